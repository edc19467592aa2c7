// Either all manifests are replaced, or none of them.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type NewText, writeTexts } from "../../src/edit/edit-files.ts";

function folder(play: (root: string) => void): void {
  const root = mkdtempSync(join(tmpdir(), "tasc-replace-"));
  try {
    mkdirSync(join(root, "targets"));
    play(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const change = (file: string, bom = false): NewText => ({
  file,
  bom,
  before: "a: 1\r\n",
  after: "a: 2\r\n",
});

test("each file gets its new text and keeps its byte order mark, permissions and symbolic link", () => {
  folder((root) => {
    writeFileSync(join(root, "real.yaml"), "\ufeffa: 1\r\n");
    chmodSync(join(root, "real.yaml"), 0o640);
    symlinkSync("../real.yaml", join(root, "targets/link.yaml"));
    writeFileSync(join(root, "targets/b.yaml"), "a: 1\r\n");
    writeTexts(root, [change("targets/link.yaml", true), change("targets/b.yaml")]);
    expect(readFileSync(join(root, "real.yaml"), "utf8")).toBe("\ufeffa: 2\r\n");
    expect(statSync(join(root, "real.yaml")).mode & 0o777).toBe(0o640);
    expect(lstatSync(join(root, "targets/link.yaml")).isSymbolicLink()).toBe(true);
    expect(readdirSync(join(root, "targets")).toSorted()).toEqual(["b.yaml", "link.yaml"]);
  });
});

test("no file is changed if one of them was modified in the meantime", () => {
  folder((root) => {
    writeFileSync(join(root, "targets/a.yaml"), "a: 1\r\n");
    writeFileSync(join(root, "targets/b.yaml"), "a: 1 # mine\r\n");
    expect(() => writeTexts(root, [change("targets/a.yaml"), change("targets/b.yaml")])).toThrow(
      "Cannot write targets/b.yaml",
    );
    expect(readFileSync(join(root, "targets/a.yaml"), "utf8")).toBe("a: 1\r\n");
    expect(readFileSync(join(root, "targets/b.yaml"), "utf8")).toBe("a: 1 # mine\r\n");
    expect(readdirSync(join(root, "targets")).toSorted()).toEqual(["a.yaml", "b.yaml"]);
  });
});

test("no file is changed if one of them is missing", () => {
  folder((root) => {
    writeFileSync(join(root, "targets/a.yaml"), "a: 1\r\n");
    expect(() => writeTexts(root, [change("targets/a.yaml"), change("targets/b.yaml")])).toThrow(
      "Cannot write targets/b.yaml",
    );
    expect(readFileSync(join(root, "targets/a.yaml"), "utf8")).toBe("a: 1\r\n");
    expect(readdirSync(join(root, "targets"))).toEqual(["a.yaml"]);
  });
});

test("a new file is created with its folder, and never overwrites an existing file", () => {
  folder((root) => {
    const made = (file: string): NewText => ({
      file,
      bom: false,
      before: undefined,
      after: "a: 2\n",
    });
    writeFileSync(join(root, "targets/a.yaml"), "a: 1\r\n");
    writeTexts(root, [made("targets/new/b.yaml"), change("targets/a.yaml")]);
    expect(readFileSync(join(root, "targets/new/b.yaml"), "utf8")).toBe("a: 2\n");
    writeFileSync(join(root, "targets/a.yaml"), "a: 1\r\n");
    const again = [change("targets/a.yaml"), made("targets/c.yaml"), made("targets/new/b.yaml")];
    expect(() => writeTexts(root, again)).toThrow("Cannot write targets/new/b.yaml");
    expect(readFileSync(join(root, "targets/a.yaml"), "utf8")).toBe("a: 1\r\n");
    expect(readdirSync(join(root, "targets")).toSorted()).toEqual(["a.yaml", "new"]);
  });
});
