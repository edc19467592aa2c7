// `plan --base REF` reports the cause of each change.
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { at, list } from "./support/json.ts";
import { scene, type Project } from "./support/cli.ts";
import { seed } from "./support/story.ts";

const manifest = (login: string, cart: string): string => `target: shop
app: Web Shop
testCases:
  login: { description: Log in, ${login} }
  cart: { description: Cart, ${cart} }
  other: { description: Other, status: ENABLED }
`;

function git(project: Project, ...args: readonly string[]): void {
  const identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  execFileSync("git", [...identity, ...args], { cwd: project.dir, stdio: "ignore" });
}

describe("plan --base", () => {
  test("distinguishes changes made by the branch from pending changes and drift", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      service.addCase(live.target, { description: "Cart", status: "ENABLED" });
      const other = service.addCase(live.target, { description: "Other", status: "ENABLED" });
      await project.write({ "targets/shop.yaml": manifest("status: ENABLED", "status: ENABLED") });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      await project.write({ "targets/shop.yaml": manifest("status: ENABLED", "status: DRAFT") });
      git(project, "init", "-q", "-b", "main");
      git(project, "add", "-A");
      git(project, "commit", "-q", "-m", "base");
      other.status = "OUTDATED";
      await project.write({ "targets/shop.yaml": manifest("status: DISABLED", "status: DRAFT") });
      // A tag with the name of the branch. git would prefer it, and many people may push tags.
      git(project, "commit", "-q", "-a", "-m", "theirs");
      git(project, "tag", "main");
      git(project, "update-ref", "refs/heads/ORIG_HEAD", "HEAD");
      git(project, "reset", "-q", "HEAD^");

      const { ran, value } = await project.json(["plan", "--base", "main"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(
        list(value["changes"]).map((item) => [at(item, "address"), at(item, "cause")]),
      ).toEqual([
        ["testCase.shop.cart", "pending"],
        ["testCase.shop.login", "manifest"],
        ["testCase.shop.other", "drift"],
      ]);
      const files = execFileSync("git", ["status", "--porcelain"], {
        cwd: project.dir,
        encoding: "utf8",
      });
      expect(files).not.toContain("D ");
      // A branch does not replace a ref of git with the same name, such as ORIG_HEAD.
      git(project, "update-ref", "ORIG_HEAD", "HEAD");
      const same = await project.json(["plan", "--base", "ORIG_HEAD"]);
      expect(same.value["changes"]).toEqual(value["changes"]);
      // Pipelines call the local branch as a pull request calls its own, which may be called like
      // the remote's.
      git(project, "update-ref", "refs/remotes/origin/main", "refs/heads/main");
      git(project, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
      for (const name of ["refs/heads/origin/main", "refs/tags/origin"])
        git(project, "update-ref", name, "refs/tags/main");
      for (const ref of [
        "origin/main",
        "origin/main~0",
        "remotes/origin/main",
        "origin",
        "heads/main",
      ]) {
        // oxlint-disable-next-line no-await-in-loop
        const known = await project.json(["plan", "--base", ref]);
        expect([ref, known.value["changes"]]).toEqual([ref, value["changes"]]);
      }
      const { code } = await project.run(["plan", "--base", "nowhere"]);
      expect(code).toBe(3);
    });
  });

  test("applies the limits of --trust to REF as well", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      for (const description of ["Cart", "Other"])
        service.addCase(live.target, { description, status: "ENABLED" });
      const trust = 'version: 1\nvariables: ["TASC_*"]\n';
      const cart = "status: DRAFT";
      const foreign = 'status: ENABLED, entryPointUrlPath: "${env:OTHER:-/x}"';
      await project.write({ "trust.yaml": trust, "targets/shop.yaml": manifest(foreign, cart) });
      git(project, "init", "-q", "-b", "main");
      git(project, "add", "-A");
      git(project, "commit", "-q", "-m", "base");
      await project.write({ "targets/shop.yaml": manifest("status: ENABLED", cart) });
      const causes = async (...args: readonly string[]): Promise<readonly unknown[]> => {
        const { ran, value } = await project.json(["plan", "--base", "main", ...args]);
        expect(ran.code, ran.stderr).toBe(0);
        return list(value["changes"]).map((item) => at(item, "cause"));
      };
      expect(await causes()).toContain("pending");
      // Values of REF that may not be read cannot be compared.
      expect(await causes("--trust", "trust.yaml")).not.toContain("pending");
      for (const command of ["fmt", "validate"])
        expect((await project.run([command, "--trust", "missing.yaml"])).code).toBe(3);
      expect(
        (await project.run(["new", "testCase", "shop.x", "--trust", "missing.yaml"])).code,
      ).toBe(3);
    });
  });

  test.for([
    ["onRemove", "policy: { onRemove: disable }\n", ""],
    ["another target", "", "id: TARGET\n"],
    ["another place of state", "state: { path: elsewhere }\n", ""],
  ] as const)(
    "reports the cause `manifest` for changes that follow from %s",
    async ([, settings, own]) => {
      await scene({}, async ({ project, service }) => {
        const live = seed(service);
        const twin = service.addTarget("Twin");
        for (const description of ["Cart", "Other"])
          service.addCase(live.target, { description, status: "ENABLED" });
        for (const description of ["Log in", "Cart"])
          service.addCase(twin, { description, status: "ENABLED" });
        await project.write({
          "targets/shop.yaml": `${manifest("status: ENABLED", "status: ENABLED")}timeoutPerStep: 1\n`,
        });
        expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
        const left = manifest("status: DRAFT", "status: DRAFT").replace(
          / {2}other.*\n/,
          "timeoutPerStep: 1\n",
        );
        await project.write({ "targets/shop.yaml": left });
        git(project, "init", "-q", "-b", "main");
        git(project, "add", "-A");
        git(project, "commit", "-q", "-m", "base");
        await project.write({
          "tasc.yaml": (await project.read("tasc.yaml")) + settings,
          "targets/shop.yaml": left + own.replace("TARGET", twin.id),
        });
        const { ran, value } = await project.json(["plan", "--base", "main"]);
        expect(ran.code, ran.stderr).toBe(0);
        const causes = new Set(list(value["changes"]).map((item) => at(item, "cause")));
        expect([...causes]).toEqual(["manifest"]);
      });
    },
  );
});
