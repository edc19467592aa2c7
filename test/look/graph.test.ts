// `tasc graph`: its output, and names with special characters of its formats.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dotText, graphOf, graphView, mermaidText } from "../../src/inspect/graph.ts";
import { safeLine } from "../../src/render/escape.ts";
import { createRedactor } from "../../src/render/redact.ts";
import { PLAIN } from "../../src/render/style.ts";
import { show } from "../../src/render/view.ts";
import { loaded } from "../manifest/loading.ts";
import { appliedScene } from "./scene.ts";

const HOSTILE = `target: shop
app: Web Shop
environments: { default: { discoveryUrl: "https://shop.example.com" }, preview: { discoveryUrl: "https://p.example.com" } }
testCases:
  cookie: { description: Accept }
  login: { description: Log in, status: ENABLED, runStatus: "ON", discovery: { prompt: Log in., prerequisite: cookie } }
  logout: { description: Log out, status: DISABLED, discovery: { prompt: Log out., prerequisite: login } }
  orders:
    description: Orders
    discovery: { prompt: See orders., prerequisite: { description: 'Sign "up"; <b>%%{init}%%</b> \\N end' } }
batchGenerations:
  spring: { prompt: Cover the spring., environment: preview, prerequisite: login }
`;

describe("the graph", () => {
  test("has prerequisites, also unmanaged ones, and the environments that are used", async () => {
    const { desired } = await loaded({ "targets/shop.yaml": HOSTILE });
    const view = graphView(graphOf("staging", desired.targets));
    const options = { redactor: createRedactor([]), style: PLAIN, width: 80 };
    await expect(show(view, "mermaid", options)).toMatchFileSnapshot("golden/graph.mmd");
    await expect(show(view, "dot", options)).toMatchFileSnapshot("golden/graph.dot");
  });
});

/** Mostly special characters of the formats. */
const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...Array.from("\"'`#;<>&%{}[]()|\\:*~=1.- \n")),
    fc.string({ unit: "grapheme", maxLength: 1 }),
  ),
});

describe("a name", () => {
  test("in Mermaid has no special characters except entities, and decodes to the original", () => {
    fc.assert(
      fc.property(hostile, (name) => {
        const text = mermaidText(name);
        expect(text.replaceAll(/#\d+;/g, "")).not.toMatch(/["'`#;<>&%{}()[\]|\\:*~=+!?@^/$]/);
        expect(text).not.toMatch(/^(?:\d+\.|-)/);
        const back = text.replaceAll(/#(\d+);/g, (_, code: string) =>
          String.fromCharCode(Number(code)),
        );
        expect(back).toBe(safeLine(name));
      }),
    );
  });

  test("in DOT stays inside its quotes, and decodes to the original", () => {
    fc.assert(
      fc.property(hostile, (name) => {
        const text = dotText(name);
        expect(text).toMatch(/^(?:[^"\\\n]|\\["\\])*$/u);
        expect(text.replaceAll(/\\(["\\])/g, "$1")).toBe(safeLine(name));
      }),
    );
  });
});

describe.concurrent("tasc graph", () => {
  const applied = appliedScene();

  test("needs no secrets and no service, and accepts a target", async () => {
    await applied(async (stage) => {
      const bare = {
        TASC_API_KEY: "",
        QA_PASSWORD: "",
        QA_USER: "",
        TASC_BASE_URL: "http://127.0.0.1:9",
      };
      const ran = await stage.run(["graph", "shop"], bare);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stderr).toBe("");
      expect(ran.stdout).toMatch(/^flowchart LR\n {2}subgraph t0\["shop"\]\n/);
      const dot = await stage.run(["graph", "--format", "dot"], bare);
      expect(dot.stdout).toContain('"testCase.shop.cookie" -> "testCase.shop.login";');
      const none = await stage.run(["graph", "shpo"], bare);
      expect(none.code).toBe(3);
      expect(none.stderr).toContain("Did you mean shop?");
    });
  });
});
