// A committed symbolic link, or one that another user made, never lets a write leave its place.
import { lchown, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectRoot } from "../../src/app/project.ts";
import { scene } from "./support/cli.ts";
import { seed } from "./support/story.ts";

const LOCK = ".tasc/state/default/shop.lock";
const SHOP = "target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, status: DRAFT } }\n";

interface Refused {
  readonly says: string;
  /** From the project folder; it leads to a folder outside, or to a file in that. */
  readonly link: string;
  readonly to: "folder" | "file" | "nowhere";
  readonly run: readonly string[];
}

const REFUSED: readonly Refused[] = [
  { says: "the folder of state", link: ".tasc", to: "folder", run: ["apply", "--auto-approve"] },
  { says: "a lock", link: LOCK, to: "nowhere", run: ["apply", "--auto-approve"] },
  { says: "the editor's folder", link: ".vscode", to: "folder", run: ["schema", "--install", "vscode"] },
  { says: "a schema", link: ".vscode/tasc", to: "folder", run: ["schema", "--install", "vscode"] },
  {
    says: "the editor's settings",
    link: ".vscode/settings.json",
    to: "file",
    run: ["schema", "--install", "vscode"],
  },
  { says: "a saved plan", link: "plan.json", to: "file", run: ["plan", "--out", "plan.json"] },
  { says: "a saved plan's folder", link: "out", to: "folder", run: ["plan", "--out", "out/plan.json"] },
  {
    says: "a saved plan's folder above the project",
    link: "out",
    to: "folder",
    run: ["plan", "--chdir", "app", "--out", "out/plan.json"],
  },
  { says: "a snapshot", link: "live.json", to: "file", run: ["snapshot", "--out", "live.json"] },
  { says: "a snapshot's folder", link: "out", to: "folder", run: ["snapshot", "--out", "out/live.json"] },
  { says: "the local service's data", link: ".tasc/service", to: "folder", run: ["serve", "--port", "0"] },
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
  { says: "a new project's manifests", link: "new/targets", to: "folder", run: ["init", "--chdir", "new"] },
];

describe.concurrent("nothing is written through a link", () => {
  test.for(REFUSED)("$says", async ({ link, to, run }, { expect }) => {
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
  });

  test("but a manifest may be one inside of the project", async () => {
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

test("a project that another user linked into a folder above is not taken", async ({ expect, skip }) => {
  if (process.getuid?.() !== 0) return skip();
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
});
