import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { KNOWN_KEYS } from "../contract/support/here.ts";
import { startHttpServer } from "../state/support/http-server.ts";
import { KEY, LOGIN, PROJECT, SECRETS, type Scene, scene } from "../look/scene.ts";
import { type Ran, installed, run } from "./package.ts";

// package.test.ts checks that the published package has the same files.
const { project, remove } = installed();
afterAll(remove);

let programs = 0;
const [, EXAMPLE = ""] = /```js\n([^]*?)```/.exec(readFileSync("docs/library.md", "utf8")) ?? [];

/** Runs a program that uses the package in the scene's project. */
function program(
  stage: Scene,
  text: string,
  env: Readonly<Record<string, string>> = {},
  own = "{}",
): Promise<Ran> {
  stage.write("tasc.yaml", `${PROJECT}stages: { staging: ${own} }\n`);
  const file = join(project, `program-${programs++}.mjs`);
  writeFileSync(file, text);
  return run(process.execPath, [...KNOWN_KEYS, file], stage.dir, { ...stage.env, ...env });
}

const BEGIN = `
import { apply, loadProject, plan, render, TascError } from "@tasc/cli";
const loaded = await loadProject(".");
const say = (value) => console.log(JSON.stringify(value, null, 1));
const refused = (work) => work.then(() => say("nothing was thrown"), (error) => say({
  known: error instanceof TascError, ...error, message: error.message }));
`;

describe("the library", () => {
  test("runs the example of docs/library.md", async ({ expect: expects }) => {
    await scene(async (stage) => {
      const first = await program(stage, EXAMPLE);
      expects(first.output).toContain("~ testCase.shop.login");
      expects(first.output).toContain("done: testCase.shop.login");
      expects(first.code).toBe(0);
      const second = await program(stage, EXAMPLE);
      expects(second.output).toContain("No changes. The service matches your manifests.");
      expects(second.output).not.toContain("done:");
      const away = await program(stage, EXAMPLE, { TASC_API_KEY: "a-wrong-key-of-this-test" });
      expects(away.output).toContain("unreachable: ");
      expects(away.code).toBe(6);
      stage.write("targets/shop.yaml", "target: shop\napp: Web Shop\ntestCase: {}\n");
      const wrong = await program(stage, EXAMPLE);
      expects(wrong.output).toContain("targets/shop.yaml:3:1");
      expects(wrong.code).toBe(3);
      for (const { output } of [first, second, away])
        for (const secret of [KEY, "a-wrong-key-of-this-test", ...Object.values(SECRETS)])
          expects(output).not.toContain(secret);
    });
  });

  test("plans and renders like the command", async () => {
    await scene(async (stage) => {
      await stage.edit(LOGIN, { status: "DRAFT" });
      const { output } = await program(
        stage,
        `${BEGIN}
        const made = await plan(loaded.project);
        for (const format of ["json", "text", "markdown"]) console.log(await render(made, format) + "=====");`,
      );
      const printed = output.split("=====\n");
      for (const [at, format] of ["json", "text", "markdown"].entries()) {
        const { stdout } = await stage.run(["plan", "--format", format]);
        const when = /"createdAt": "[^"]*"/;
        expect(printed[at]?.replace(when, "")).toBe(stdout.replace(when, ""));
      }
    });
  });

  test("hides a secret in a plan if the service repeats it", async () => {
    await scene(async (stage) => {
      await stage.edit(LOGIN, { tags: [`of-${SECRETS.QA_USER}`] });
      const { output } = await program(stage, `${BEGIN}\nsay(await plan(loaded.project));`);
      expect(output).toContain("of-(sensitive)");
      expect(output).not.toContain(SECRETS.QA_USER);
    });
  });

  test("applies only the reviewed plan, and rejects other plans and invalid arguments with a reason", async () => {
    await scene(async (stage) => {
      await stage.edit(LOGIN, { status: "DRAFT" });
      const { output } = await program(
        stage,
        `${BEGIN}
        const made = await plan(loaded.project);
        await fetch("${stage.server.controlUrl}/edit", { method: "POST",
          headers: { "content-type": "application/json", "x-api-key": "${stage.env["TASC_API_KEY"]}" },
          body: JSON.stringify({ kind: "testCase", id: "${LOGIN}", set: { status: "DISABLED", tags: ["${SECRETS.QA_USER}"] } }) });
        await refused(apply(made));
        await refused(plan(loaded.project, { only: ["testCase.shop.logn"] }));
        await refused(plan(loaded.project, { retries: -1 }));
        const events = [];
        const outcome = await apply(await plan(loaded.project), { onEvent: ({ type }) => events.push(type) });
        say([outcome.ok, outcome.failed, [...new Set(events)]]);
        await refused(plan({ ...loaded.project }));
        await refused(plan(loaded.project, { only: "testCase.shop.login" }));
        await refused(plan(loaded.project, { onyl: [] }));
        await refused(plan(loaded.project, { overridePolicy: ["all"] }));
        await refused(render(made, "xx"));
        await refused(render({}, "text"));
        await refused(render(made, "markdown", { budget: "abc" }));
        await refused(apply(made, { wait: 5 }));
        say(Object.isFrozen(made.changes[0].calls[0].body) ? "It is frozen" : "It can be changed");`,
      );
      for (const told of [
        "only takes a list of strings",
        "There is no option onyl; there are only, exclude",
        "There is no policy rule all",
        'There is no format \\"xx\\"',
        "This is not a plan",
        "budget takes a whole number",
        "wait takes a string",
        "It is frozen",
      ])
        expect(output).toContain(told);
      expect(output).toContain('"reason": "stale"');
      expect(output).toContain("Did you mean testCase.shop.login?");
      expect(output).toContain("retries takes a whole number from 0 up");
      expect(output).toContain('"changeStarted"');
      expect(output).toContain("This is not a project that loadProject gave");
      expect(output).not.toContain(SECRETS.QA_USER);
      expect(output).toMatch(/\[\n true,\n \[\],/);
    });
  });

  test("reports a failed write of state without the secret in the state address", async () => {
    const server = await startHttpServer();
    try {
      await scene(async (stage) => {
        server.fault = ({ method, body }) =>
          method === "POST" && body.includes('"intents": {\n') ? 403 : undefined;
        const { output } = await program(
          stage,
          `${BEGIN}
          const events = [];
          const made = await plan(loaded.project, { run: ["batchGeneration.shop.spring"] });
          const outcome = await apply(made, { onEvent: (event) => events.push(event) });
          say([events, outcome]);`,
          { STATE_TOKEN: "token-of-state-1234" },
          `{ state: { backend: http, address: "${server.address}/\${secret:STATE_TOKEN}" } }`,
        );
        expect(output).toContain("was answered with status 403");
        expect(output).toContain('"changeFailed"');
        expect(output).not.toContain("token-of-state-1234");
      });
    } finally {
      await server.stop();
    }
  });

  test("applies a plan only once", async () => {
    await scene(async (stage) => {
      const { output } = await program(
        stage,
        `${BEGIN}
        const only = ["batchGeneration.shop.spring"];
        const again = () => plan(loaded.project, { run: only, only });
        await apply(await again());
        const made = await again();
        const outcome = await apply(made);
        say([outcome.ok, outcome.calls.POST]);
        await refused(apply(made));`,
      );
      expect(output).toMatch(/^\[\n true,\n 1\n\]/);
      expect(output).toContain("was applied before");
    });
  });

  test("stops when it is aborted, and reports the changes that were done", async () => {
    await scene(async (stage) => {
      const { output } = await program(
        stage,
        `${BEGIN}
        const stop = new AbortController();
        const outcome = await apply(await plan(loaded.project, { concurrency: 1 }), {
          signal: stop.signal,
          onEvent: ({ type }) => type === "changeDone" && stop.abort() });
        say({ interrupted: outcome.interrupted, code: outcome.exitCode, done: outcome.done.length,
          skipped: outcome.skipped.length > 0 });`,
      );
      expect(JSON.parse(output)).toEqual({ interrupted: true, code: 130, done: 1, skipped: true });
    });
  });
});
