import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compilePattern, findFiles } from "../../src/manifest/find-manifests.ts";
import { loadProject } from "../../src/manifest/load.ts";
import { makeOpenFolder, openToOthers } from "../state/support/open-folder.ts";
import { PROJECT, show } from "./loading.ts";
import { Link, type MemoryFiles, memoryFolder } from "./memory-folder.ts";

function find(patterns: readonly string[], files: MemoryFiles): ReturnType<typeof findFiles> {
  const compiled = patterns.map(compilePattern);
  return findFiles(
    memoryFolder(files),
    compiled.flatMap((result) => ("patterns" in result ? result.patterns : [])),
  );
}

describe("a pattern", () => {
  const TREE = [
    "a.yaml",
    "b.yml",
    "c.txt",
    ".hidden.yaml",
    "targets/a.yaml",
    "targets/B.yaml",
    "targets/deep/er/c.yml",
    "targets/deep/d.yaml",
    "targets/.git/e.yaml",
    "targets/node_modules/p/f.yaml",
    "targets/[x].yaml",
    "targets/a+b(c).yaml",
    "other/a.yaml",
  ];
  const files = Object.fromEntries(TREE.map((path) => [path, ""]));

  test.each([
    [["*.yaml"], ["a.yaml"]],
    [["*.{yaml,yml}"], ["a.yaml", "b.yml"]],
    [["?.y*ml"], ["a.yaml", "b.yml"]],
    [["**/d.yaml"], ["targets/deep/d.yaml"]],
    [["**/[x].yaml"], []],
    [["targets/[[]x].yaml"], ["targets/[x].yaml"]],
    [["**/a.yaml"], ["a.yaml", "other/a.yaml", "targets/a.yaml"]],
    [
      ["targets/**"],
      [
        "targets/B.yaml",
        "targets/[x].yaml",
        "targets/a+b(c).yaml",
        "targets/a.yaml",
        "targets/deep/d.yaml",
        "targets/deep/er/c.yml",
      ],
    ],
    [
      ["targets/**/*.{yaml,yml}"],
      [
        "targets/B.yaml",
        "targets/[x].yaml",
        "targets/a+b(c).yaml",
        "targets/a.yaml",
        "targets/deep/d.yaml",
        "targets/deep/er/c.yml",
      ],
    ],
    [["targets/*/*.yaml"], ["targets/deep/d.yaml"]],
    [["targets/[a-b].yaml"], ["targets/a.yaml"]],
    [["targets/[!a].yaml"], ["targets/B.yaml"]],
    [["targets/a+b(c).yaml"], ["targets/a+b(c).yaml"]],
    [["{targets,other}/a.yaml"], ["other/a.yaml", "targets/a.yaml"]],
    [["{targets/{a,B},c}.{yaml,txt}"], ["c.txt", "targets/B.yaml", "targets/a.yaml"]],
    [["./targets//a.yaml"], ["targets/a.yaml"]],
    [["targets/node_modules/p/*"], ["targets/node_modules/p/f.yaml"]],
    [
      ["a.yaml", "*.yaml", "**/a.yaml"],
      ["a.yaml", "other/a.yaml", "targets/a.yaml"],
    ],
    [["targets"], []],
    [[], []],
  ])("%j matches %j", (patterns, expected) => {
    expect(find(patterns, files)).toEqual({ files: expected, escaping: [], hidden: [] });
  });

  test("does not match hidden files, neither by name nor through links, and reports them", () => {
    const patterns = [".hidden.yaml", ".*.yaml", "targets/.git/*", "links/**"];
    const links = {
      "links/a.yaml": new Link("targets/.git/e.yaml"),
      "links/b": new Link("targets/.git"),
    };
    expect(find(patterns, { ...files, ...links })).toEqual({
      files: [],
      escaping: [],
      hidden: [".hidden.yaml", "links/a.yaml", "links/b/e.yaml", "targets/.git/e.yaml"],
    });
  });

  test.each([
    ["/etc/*", "it is an absolute path"],
    ["\\\\server\\x", "it is an absolute path"],
    ["c:/x", "it is an absolute path"],
    ["a\\b", "folders are separated by `/`"],
    ["../x", "it leaves the folder by `..`"],
    ["a/../../x", "it leaves the folder by `..`"],
    ["{a,..}/x", "it leaves the folder by `..`"],
  ])("%j is rejected: %s", (pattern, fault) => {
    expect(compilePattern(pattern)).toEqual({ fault });
  });

  test("can contain a folder name that ends in two dots", () => {
    expect(find(["a../*.yaml"], { "a../x.yaml": "" }).files).toEqual(["a../x.yaml"]);
  });
});

describe("symbolic links", () => {
  test("are followed inside the project, and a file is found once, by its shorter path", () => {
    const files = {
      "targets/long-name.yaml": "",
      "targets/a.yaml": new Link("targets/long-name.yaml"),
    };
    expect(find(["targets/*"], files)).toEqual({
      files: ["targets/a.yaml"],
      escaping: [],
      hidden: [],
    });
  });

  test("to one file with paths of equal length: the alphabetically first is found, in any listing order", () => {
    const links = [
      ["b.yaml", new Link("far/away.yaml")],
      ["a.yaml", new Link("far/away.yaml")],
      ["c.yaml", new Link("far/away.yaml")],
    ] as const;
    const names = (entries: typeof links | readonly (typeof links)[number][]): readonly string[] =>
      find(["*.yaml"], { "far/away.yaml": "", ...Object.fromEntries(entries) }).files;
    expect([names(links), names(links.toReversed())]).toEqual([["a.yaml"], ["a.yaml"]]);
  });

  test("to folders are followed too", () => {
    const files = { "shared/x/a.yaml": "", "targets/s": new Link("shared/x") };
    expect(find(["targets/**/*.yaml"], files)).toEqual({
      files: ["targets/s/a.yaml"],
      escaping: [],
      hidden: [],
    });
  });

  test("that form a cycle add no files", () => {
    const files = {
      "a/x.yaml": "",
      "a/up": new Link("a"),
      "a/top": new Link(""),
      "a/b": new Link("b"),
      "b/a": new Link("a"),
      "b/y.yaml": "",
    };
    expect(find(["**/*.yaml"], files)).toEqual({
      files: ["a/x.yaml", "b/y.yaml"],
      escaping: [],
      hidden: [],
    });
  });

  test("between many folders are followed quickly", () => {
    const names = Array.from({ length: 20 }, (_, at) => `d${at + 10}`);
    // No pattern matches this folder, so it is only reached through links.
    const files: Record<string, string | Link> = {
      "node_modules/y.yaml": "",
      "d12/far": new Link("node_modules"),
    };
    files["node_modules/back"] = new Link("d10");
    for (const one of names) {
      files[`${one}/x.yaml`] = "";
      for (const other of names) files[`${one}/to-${other}`] = new Link(other);
    }
    const { files: found } = find(["**/*.yaml", "d10/*/*/*.yaml"], files);
    expect(found).toEqual([...names.map((name) => `${name}/x.yaml`), "d12/far/y.yaml"].toSorted());
  });

  test("that leave the project are reported if a pattern matches them, and otherwise ignored", () => {
    const files = { "a.yaml": new Link(undefined), "b.txt": new Link(undefined), "c.yaml": "" };
    expect(find(["*.yaml"], files)).toEqual({
      files: ["c.yaml"],
      escaping: ["a.yaml"],
      hidden: [],
    });
    expect(find(["**/*.yaml"], files)).toEqual({
      files: ["c.yaml"],
      escaping: ["a.yaml"],
      hidden: [],
    });
  });
});

describe("on disk", () => {
  let root: string;
  let umask: number;

  beforeEach(() => {
    // Other users can read the files, whatever the umask is, unless a test forbids it.
    umask = process.umask(0o022);
    root = makeOpenFolder("manifest-");
  });

  afterEach(() => {
    process.umask(umask);
    rmSync(root, { recursive: true, force: true });
  });

  function write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  }

  const load = async (folder: string): Promise<readonly string[]> => {
    const result = await loadProject({ root: join(root, folder), env: { KEY: "key-1" } });
    return result.ok ? result.documents.map(({ file }) => file) : show(result.diagnostics);
  };

  test("a project is read from its folder", async () => {
    write({
      "p/tasc.yaml": PROJECT,
      "p/targets/x/b.yml": "target: b\n",
      "p/targets/a.yaml": "target: a\n",
    });
    expect(await load("p")).toEqual(["targets/a.yaml", "targets/x/b.yml"]);
  });

  test("a missing folder is reported as a missing project", async () => {
    expect((await load("nowhere"))[0]).toMatch(/^tasc\.yaml:1:1 no-project: /);
  });

  test("links that leave the project are errors, links inside it are followed", async () => {
    write({
      "p/tasc.yaml": PROJECT,
      "p/shared/a.yaml": "target: a\n",
      "outside/b.yaml": "target: b\n",
      "p/targets/.keep": "",
    });
    symlinkSync("../shared/a.yaml", join(root, "p/targets/a.yaml"));
    expect(await load("p")).toEqual(["targets/a.yaml"]);
    symlinkSync(join(root, "outside"), join(root, "p/targets/out"));
    symlinkSync("missing.yaml", join(root, "p/targets/dangling.yaml"));
    expect(await load("p")).toEqual([
      "tasc.yaml:1:1 escaping-link: A symbolic link leaves the project folder / `targets/dangling.yaml` matches `manifests` and points elsewhere, or nowhere. Manifests must be inside the project folder. Copy them there, or narrow the pattern.",
      "tasc.yaml:1:1 escaping-link: A symbolic link leaves the project folder / `targets/out` matches `manifests` and points elsewhere, or nowhere. Manifests must be inside the project folder. Copy them there, or narrow the pattern.",
    ]);
  });

  test("the project folder can be a symbolic link", async () => {
    write({
      "p/tasc.yaml": PROJECT,
      "p/targets/a.yaml": 'target: a\napp: "${file:a.txt}"\n',
      "p/a.txt": "x",
    });
    symlinkSync("p", join(root, "link"));
    expect(await load("link")).toEqual(["targets/a.yaml"]);
  });

  test("${file:} reads a file in the project, but not a link out of it, nor a folder", async () => {
    write({
      "p/tasc.yaml": PROJECT,
      "p/targets/a.yaml":
        'target: a\napp: "${file:texts/in.txt}${file:texts/out.txt}${file:texts}"\n',
      "p/texts/in.txt": "in",
      "outside.txt": "outside",
    });
    symlinkSync("../../outside.txt", join(root, "p/texts/out.txt"));
    expect(await load("p")).toEqual([
      "targets/a.yaml:2:27 unreadable-file: The file texts/out.txt cannot be used / At `app`. `${file:texts/out.txt}`: It is a symbolic link, or its path contains one. Use the path of the file itself.",
      "targets/a.yaml:2:48 unreadable-file: The file texts cannot be used / At `app`. `${file:texts}`: It is a folder.",
    ]);
  });

  test("a file without read permission is an error", async () => {
    write({ "p/tasc.yaml": PROJECT, "p/targets/a.yaml": "target: a\n" });
    openToOthers(root);
    chmodSync(join(root, "p/targets/a.yaml"), 0);
    expect(await asNobody(() => load("p"))).toEqual([
      "targets/a.yaml:1:1 unreadable: The file cannot be read / You have no permission to read it.",
    ]);
  });

  test("a folder without read permission stops the load, so its test cases do not seem removed", async () => {
    write({
      "p/tasc.yaml": PROJECT,
      "p/targets/a.yaml": "target: a\n",
      "p/targets/more/b.yaml": "target: b\n",
    });
    openToOthers(root);
    chmodSync(join(root, "p/targets/more"), 0);
    const refusal = { diagnostics: [{ summary: "The folder targets/more cannot be read" }] };
    await asNobody(() => expect(load("p")).rejects.toMatchObject(refusal));
    chmodSync(join(root, "p/targets/more"), 0o755);
  });

  test("a tasc.yaml that is a folder is an error", async () => {
    mkdirSync(join(root, "p/tasc.yaml"), { recursive: true });
    expect(await load("p")).toEqual([
      "tasc.yaml:1:1 unreadable: The file cannot be read / It is a folder.",
    ]);
  });
});

const NOBODY = 65534;

/** Root may read every file, and containers run tests as root. */
async function asNobody<T>(act: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return await act();
  process.seteuid?.(NOBODY);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
  }
}
