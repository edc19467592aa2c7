// A symbolic link that was committed or made by another user never redirects a write to another
// place.
import {
  lchown,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectRoot } from "../../src/app/project.ts";
import { scene } from "./support/cli.ts";
import { seed } from "./support/story.ts";

const LOCK = ".tasc/state/default/shop.lock";
const SHOP =
  "target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, status: DRAFT } }\n";

interface Refused {
  readonly says: string;
  /**
   * Path within the project folder. The link leads to a folder outside of it, or to a file in that
   * folder.
   */
  readonly link: string;
  readonly to: "folder" | "file" | "nowhere";
  readonly run: readonly string[];
}

const REFUSED: readonly Refused[] = [
  { says: "the state folder", link: ".tasc", to: "folder", run: ["apply", "--auto-approve"] },
  { says: "a lock", link: LOCK, to: "nowhere", run: ["apply", "--auto-approve"] },
  {
    says: "the editor's folder",
    link: ".vscode",
    to: "folder",
    run: ["schema", "--install", "vscode"],
  },
  { says: "a schema", link: ".vscode/tasc", to: "folder", run: ["schema", "--install", "vscode"] },
  {
    says: "the editor's settings",
    link: ".vscode/settings.json",
    to: "file",
    run: ["schema", "--install", "vscode"],
  },
  { says: "a saved plan", link: "plan.json", to: "file", run: ["plan", "--out", "plan.json"] },
  {
    says: "a saved plan's folder",
    link: "out",
    to: "folder",
    run: ["plan", "--out", "out/plan.json"],
  },
  {
    says: "a saved plan's folder above the project",
    link: "out",
    to: "folder",
    run: ["plan", "--chdir", "app", "--out", "out/plan.json"],
  },
  { says: "a snapshot", link: "live.json", to: "file", run: ["snapshot", "--out", "live.json"] },
  {
    says: "a snapshot's folder",
    link: "out",
    to: "folder",
    run: ["snapshot", "--out", "out/live.json"],
  },
  {
    says: "the local service's data",
    link: ".tasc/service",
    to: "folder",
    run: ["serve", "--port", "0"],
  },
  {
    says: "the local service's key",
    link: ".tasc/service/api-key",
    to: "nowhere",
    run: ["serve", "--port", "0"],
  },
  {
    says: "the local service's journal",
    link: ".tasc/service/service.db-wal",
    to: "nowhere",
    run: ["serve", "--port", "0"],
  },
  {
    says: "a new project's manifests",
    link: "new/targets",
    to: "folder",
    run: ["init", "--chdir", "new"],
  },
];

describe.concurrent("writes and symbolic links", () => {
  test.for(REFUSED)(
    "$says is not written through a link",
    async ({ link, to, run }, { expect }) => {
      await scene({}, async ({ project, service }) => {
        seed(service);
        const settings = await project.read("tasc.yaml");
        await project.write({
          "targets/shop.yaml": SHOP,
          "app/targets/shop.yaml": SHOP,
          "app/tasc.yaml": settings,
        });
        const outside = `${project.dir}-outside`;
        const place = join(project.dir, link);
        const file = join(outside, "file");
        await mkdir(outside, { recursive: true });
        await mkdir(dirname(place), { recursive: true });
        const before = '{ "editor.tabSize": 3 }\n';
        await writeFile(file, before);
        await rm(place, { force: true, recursive: true });
        await symlink({ file, folder: outside, nowhere: join(outside, "nothing") }[to], place);
        try {
          const ran = await project.run([...run]);
          expect(ran.code, ran.stdout + ran.stderr).toBe(1);
          expect(ran.stderr.replaceAll(/\s+/g, " ")).toContain("is a symbolic link");
          expect(await readdir(outside)).toEqual(["file"]);
          expect(await readFile(file, "utf8")).toBe(before);
        } finally {
          await rm(outside, { recursive: true });
        }
      });
    },
  );

  test("fmt writes a manifest through a link that stays inside the project", async () => {
    await scene({}, async ({ project }) => {
      await project.write({ "shared/shop.yaml": "app: Web Shop\ntarget: shop\n" });
      await mkdir(join(project.dir, "targets"), { recursive: true });
      await symlink("../shared/shop.yaml", join(project.dir, "targets/shop.yaml"));
      const ran = await project.run(["fmt"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(await project.read("shared/shop.yaml")).toBe("target: shop\napp: Web Shop\n");
    });
  });
});

const NOT_ROOT = process.getuid?.() !== 0;
const AS_ROOT = { meta: { needs: "root" } } as const;

test.skipIf(NOT_ROOT)(
  "a tasc.yaml in a parent folder is ignored if another user linked it",
  AS_ROOT,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "tasc-above-"));
    try {
      const cwd = join(folder, "work");
      await mkdir(cwd);
      await mkdir(join(folder, "own"));
      await writeFile(join(folder, "own", "tasc.yaml"), "version: 1\n");
      await symlink("own/tasc.yaml", join(folder, "tasc.yaml"));
      expect(projectRoot({}, { cwd })).toBe(folder);
      await lchown(join(folder, "tasc.yaml"), 1001, 1001);
      expect(projectRoot({}, { cwd })).toBe(cwd);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
