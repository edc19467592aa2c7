// What an editor shows for manifests, with the YAML language server and the settings that tasc
// installs.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isObject, parseJson } from "../../src/model/json.ts";
import { at, listAt, textAt } from "../look/scene.ts";
import { type Editor, type Position, findServer, openEditor } from "./language-server.ts";

const EXECUTABLE = resolve(process.env["TASC_EXECUTABLE"] ?? "dist/tasc.cjs");
const SERVER = findServer();

let folder = "";
let editor: Editor | undefined;
let opened = 0;

beforeAll(async () => {
  if (SERVER === undefined) return;
  folder = mkdtempSync(join(tmpdir(), "tasc-editor-"));
  mkdirSync(join(folder, "targets"));
  writeFileSync(join(folder, "tasc.yaml"), "version: 1\n");
  execFileSync(process.execPath, [EXECUTABLE, "schema", "--install", "vscode"], { cwd: folder });
  const settings = parseJson(readFileSync(join(folder, ".vscode/settings.json"), "utf8"));
  editor = await openEditor(SERVER, folder, isObject(settings) ? settings : {});
  // The server requests its settings asynchronously. When it reports the first mistake, it has
  // them.
  editor.open("targets/first.yaml", "target: shop\nunheard: of\n");
  await editor.sawMistake("targets/first.yaml");
});

afterAll(async () => {
  await editor?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Opens a text in which `|` is the cursor. */
function typed(
  kind: "project" | "target",
  text: string,
): { readonly file: string; readonly position: Position } {
  if (editor === undefined) throw new Error("no editor");
  const before = text.slice(0, text.indexOf("|")).split("\n");
  const file = kind === "project" ? `${opened}/tasc.yaml` : `targets/t${opened}.yaml`;
  opened += 1;
  editor.open(file, text.replace("|", ""));
  return { file, position: { line: before.length - 1, character: before.at(-1)?.length ?? 0 } };
}

describe.skipIf(SERVER === undefined)(
  "the YAML language server (skipped if it is not installed)",
  () => {
    test.each<readonly [string, "project" | "target", string, readonly string[]]>([
      ["keys of tasc.yaml", "project", "version: 1\n|", ["service", "stages", "policy", "vars"]],
      [
        "keys of the policy",
        "project",
        "version: 1\npolicy:\n  |",
        ["maxChanges", "protected", "requireTags"],
      ],
      ["backends", "project", "version: 1\nstate:\n  backend: |", ["local", "postgres", "http"]],
      [
        "what a stage overrides",
        "project",
        "version: 1\nstages:\n  dev:\n    |",
        ["service", "vars", "policy"],
      ],
      [
        "keys of a target",
        "target",
        "target: shop\n|",
        ["app", "environments", "testCases", "onRemove"],
      ],
      ["what becomes of what left", "target", "target: shop\nonRemove: |", ["ignore", "disable"]],
      [
        "keys of an environment",
        "target",
        "target: shop\nenvironments:\n  default:\n    |",
        ["discoveryUrl", "testAccount"],
      ],
      [
        "keys of a test case",
        "target",
        "target: shop\ntestCases:\n  login:\n    |",
        ["status", "discovery", "folder"],
      ],
      [
        "statuses",
        "target",
        "target: shop\ntestCases:\n  login:\n    status: |",
        ["ENABLED", "DISABLED", "DRAFT"],
      ],
      [
        "kinds of discovery",
        "target",
        "target: shop\ntestCases:\n  login:\n    discovery:\n      type: |",
        ["LOGIN", "COOKIE_BANNER"],
      ],
    ])("completes %s", async (_, kind, text, wanted) => {
      const { file, position } = typed(kind, text);
      const labels = await editor?.complete(file, position);
      expect(labels).toEqual(expect.arrayContaining([...wanted]));
    });

    test("shows the description of a key on hover", async () => {
      const { file, position } = typed("target", "target: shop\ntestIdAttr|ibute: data-testid\n");
      expect(await editor?.hover(file, position)).toContain(
        "Attribute that the service uses to locate",
      );
    });

    test.each<readonly [string, "project" | "target", string, readonly string[]]>([
      [
        "a key of the service",
        "project",
        "version: 1\nservice: { base|Url: http://127.0.0.1 }\n",
        ["TASC_BASE_URL:-http://"],
      ],
      [
        "a secret",
        "project",
        "version: 1\nservice: { api|Key: '${secret:K}' }\n",
        ["${secret:TASC_API_KEY}"],
      ],
      ["variables", "project", "version: 1\nva|rs: { host: a }\n", ["staging.shop.example.com"]],
      [
        "an address",
        "target",
        "target: shop\nmov|ed: [{ from: testCase.shop.a, to: testCase.shop.b }]\n",
        ["testCase.shop.old-login"],
      ],
      [
        "an enum",
        "target",
        "target: shop\ntestCases: { a: { sta|tus: DRAFT } }\n",
        ["ENABLED", "DISABLED", "DRAFT"],
      ],
      [
        "`${var:`",
        "target",
        "target: shop\nenvironments: { default: { discovery|Url: 'https://a' } }\n",
        ["https://${var:host}"],
      ],
      [
        "a prerequisite",
        "target",
        "target: shop\ntestCases: { a: { discovery: { prere|quisite: b } } }\n",
        ["cookie-banner"],
      ],
      [
        "a locator",
        "target",
        "target: shop\ntestCases: { a: { elements: [{ locator|Line: x }] } }\n",
        ["getByRole("],
      ],
      [
        "a quarantine",
        "target",
        "target: shop\ntestCases: { a: { quaran|tine: { until: 2026-12-15, reason: r } } }\n",
        ["2026-12-15"],
      ],
      [
        "a password",
        "target",
        "target: shop\nenvironments: { default: { testAccount: { pass|word: '${secret:A}' } } }\n",
        ["${secret:QA_PASSWORD}"],
      ],
    ])("shows on hover what is meant, with an example: %s", async (_, kind, text, wanted) => {
      const { file, position } = typed(kind, text);
      const hover = JSON.stringify(await editor?.hover(file, position)).replaceAll("\\", "");
      expect(hover.length, hover).toBeGreaterThan(80);
      for (const one of wanted) expect(hover).toContain(one);
    });

    test("reports mistakes at the same lines as tasc validate", async () => {
      const project = join(folder, "mistakes");
      mkdirSync(join(project, "targets"), { recursive: true });
      for (const [file, { text }] of Object.entries(MISTAKES))
        writeFileSync(join(project, file), text);
      const ran = spawnSync(process.execPath, [EXECUTABLE, "validate", "--format", "json"], {
        cwd: project,
        encoding: "utf8",
      });
      const found = listAt(parseJson(ran.stdout), "diagnostics").map(
        (one) => `${textAt(one, "file")}:${JSON.stringify(at(one, "line"))}`,
      );
      const expected = Object.entries(MISTAKES).flatMap(([file, { lines }]) =>
        lines.map((line) => `${file}:${line}`),
      );
      expect(found.toSorted()).toEqual(expected.toSorted());
      for (const [file, { text, lines }] of Object.entries(MISTAKES)) {
        editor?.open(`mistakes/${file}`, text);
        // oxlint-disable-next-line no-await-in-loop
        expect(await editor?.mistakes(`mistakes/${file}`), file).toEqual(lines);
      }
    });
  },
);

/** Manifests of one project, with the lines of their mistakes. */
const MISTAKES: Readonly<
  Record<string, { readonly text: string; readonly lines: readonly number[] }>
> = {
  "tasc.yaml": {
    text: "version: 1\nservice:\n  baseUrl: http://127.0.0.1:1\n  concurency: 4\npolicy:\n  maxChanges: -1\n",
    lines: [4, 6],
  },
  "targets/good.yaml": {
    text: "target: good\napp: Good\ntestCases:\n  a: { description: A, status: ENABLED }\n",
    lines: [],
  },
  "targets/key.yaml": { text: "target: key\napp: Key\ntestCasse: {}\n", lines: [3] },
  "targets/value.yaml": {
    text: "target: value\napp: Value\ntestCases:\n  a:\n    description: A\n    status: ENABLD\n",
    lines: [6],
  },
  "targets/number.yaml": {
    text: "target: number\napp: Number\ntimeoutPerStep: soon\n",
    lines: [3],
  },
  "targets/list.yaml": {
    text: "target: list\napp: List\ntestCases:\n  a:\n    description: A\n    tags: 7\n",
    lines: [6],
  },
  "targets/two.yaml": {
    text: "target: two\napp: Two\ntestIdAttribut: x\nenvironments:\n  default:\n    discoverUrl: x\n",
    lines: [3, 6],
  },
};
