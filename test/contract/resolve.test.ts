// Section 1: stages, interpolation, overrides, defaults.
import { describe, expect, test } from "vitest";
import { PROJECT, scene, type Env, type Files } from "./support/cli.ts";
import { at, list, object, parseJson, text, type JsonObject } from "./support/json.ts";
import { change } from "./support/story.ts";

const STAGES = (names: readonly string[], defaultStage?: string): string =>
  `${PROJECT}${defaultStage === undefined ? "" : `defaultStage: ${defaultStage}\n`}${
    names.length === 0 ? "" : `stages: { ${names.map((name) => `${name}: {}`).join(", ")} }\n`
  }`;

interface Chosen {
  readonly says: string;
  readonly project: string;
  readonly args?: readonly string[];
  readonly env?: Env;
  readonly stage: string | { readonly lists: readonly string[] };
}

const CHOSEN: readonly Chosen[] = [
  {
    says: "--stage overrides TASC_STAGE",
    project: STAGES(["a", "b", "c", "default"], "c"),
    args: ["--stage", "a"],
    env: { TASC_STAGE: "b" },
    stage: "a",
  },
  {
    says: "TASC_STAGE overrides defaultStage",
    project: STAGES(["a", "b", "c", "default"], "c"),
    env: { TASC_STAGE: "b" },
    stage: "b",
  },
  {
    says: "defaultStage overrides a stage named default",
    project: STAGES(["a", "c", "default"], "c"),
    stage: "c",
  },
  {
    says: "a stage named default is preferred",
    project: STAGES(["a", "default"]),
    stage: "default",
  },
  { says: "the only stage is selected", project: STAGES(["solo"]), stage: "solo" },
  { says: "without stages, the stage is default", project: STAGES([]), stage: "default" },
  {
    says: "an error if no stage is default",
    project: STAGES(["a", "b"]),
    stage: { lists: ["a", "b"] },
  },
  {
    says: "an unknown --stage is an error that lists the stages",
    project: STAGES(["a", "b"]),
    args: ["--stage", "x"],
    stage: { lists: ["x", "a", "b"] },
  },
  {
    says: "an unknown TASC_STAGE is an error that lists the stages",
    project: STAGES(["a", "b"]),
    env: { TASC_STAGE: "x" },
    stage: { lists: ["x", "a", "b"] },
  },
  {
    says: "an unknown defaultStage is an error that lists the stages",
    project: STAGES(["a", "b"], "x"),
    stage: { lists: ["x", "a", "b"] },
  },
  {
    says: "a --stage is an error if the project declares no stages",
    project: STAGES([]),
    args: ["--stage", "x"],
    stage: { lists: ["x", "default"] },
  },
];

describe.concurrent("choice of the stage", () => {
  test.each(CHOSEN)("$says", async ({ project: file, args = [], env = {}, stage }) => {
    await scene({}, async ({ project, service }) => {
      service.addTarget("Web Shop");
      await project.write({
        "tasc.yaml": file,
        "targets/shop.yaml": "target: shop\napp: Web Shop\n",
      });
      const ran = await project.run(["plan", "--format", "json", ...args], env);
      if (typeof stage === "string") {
        expect(ran.code, ran.stderr).toBe(0);
        expect(at(parseJson(ran.stdout), "stage")).toBe(stage);
      } else {
        expect(ran.code).toBe(3);
        for (const name of stage.lists) expect(ran.stderr + ran.stdout).toContain(name);
        expect(service.log).toEqual([]);
      }
    });
  });
});

/** The body of the planned discovery of a new test case. */
async function planned(
  files: Files,
  options: { readonly env?: Env; readonly args?: readonly string[] } = {},
): Promise<JsonObject> {
  let found: JsonObject = {};
  await scene({}, async ({ project, service }) => {
    service.addTarget("Web Shop");
    await project.write(files);
    const { ran, value: plan } = await project.json(["plan", ...(options.args ?? [])], options.env);
    expect(ran.code, ran.stderr).toBe(0);
    found = object(at(change(plan, "testCase.shop.x"), "calls", 0, "body"));
  });
  return found;
}

const caseWith = (content: string): string =>
  `target: shop\napp: Web Shop\ntestCases:\n  x:\n    description: X\n    discovery: { prompt: P }\n${content}`;
const path = (value: string): string =>
  caseWith(`    entryPointUrlPath: ${JSON.stringify(value)}\n`);
const SINGLE = { args: [] };

interface Interpolated {
  readonly says: string;
  readonly value: string;
  readonly env?: Env;
  readonly files?: Files;
  readonly becomes: string;
}

const INTERPOLATED: readonly Interpolated[] = [
  {
    says: "inserts an env variable",
    value: "/${env:WHERE}",
    env: { WHERE: "there" },
    becomes: "/there",
  },
  {
    says: "ignores the fallback if the variable is set",
    value: "/${env:WHERE:-here}",
    env: { WHERE: "there" },
    becomes: "/there",
  },
  { says: "falls back if the variable is unset", value: "/${env:WHERE:-here}", becomes: "/here" },
  {
    says: "falls back if the variable is empty",
    value: "/${env:WHERE:-here}",
    env: { WHERE: "" },
    becomes: "/here",
  },
  { says: "accepts an empty fallback", value: "/${env:WHERE:-}", becomes: "/" },
  {
    says: "accepts colons in a fallback",
    value: "${env:WHERE:-http://h:1/:-x}",
    becomes: "http://h:1/:-x",
  },
  { says: "inserts a project variable", value: "/${var:host}", becomes: "/shop.example.com" },
  {
    says: "resolves nested variables",
    value: "/${var:deep}",
    becomes: "/shop.example.com/default",
  },
  { says: "inserts the stage", value: "/${stage}/x", becomes: "/default/x" },
  {
    says: "inserts a file without its trailing newline",
    value: "${file:texts/a.txt}",
    files: { "texts/a.txt": "line 1\nline 2\n" },
    becomes: "line 1\nline 2",
  },
  {
    says: "removes only one trailing newline of a file",
    value: "${file:texts/a.txt}",
    files: { "texts/a.txt": "a\n\n" },
    becomes: "a\n",
  },
  {
    says: "does not interpolate the content of a file",
    value: "${file:texts/a.txt}",
    files: { "texts/a.txt": "keep ${var:host} and ${nothing}\n" },
    becomes: "keep ${var:host} and ${nothing}",
  },
  {
    says: "replaces several placeholders in one value",
    value: "${stage}-${var:host}-${stage}",
    becomes: "default-shop.example.com-default",
  },
  { says: "turns $${ into ${", value: "a $${var:host} b", becomes: "a ${var:host} b" },
  { says: "turns $${ into ${ before any text", value: "$${whatever}", becomes: "${whatever}" },
  { says: "keeps $name", value: "$name and $host", becomes: "$name and $host" },
  { says: "keeps a dollar at the end", value: "5 $", becomes: "5 $" },
  { says: "keeps braces without a dollar", value: "{env:X}", becomes: "{env:X}" },
  {
    says: "does not interpolate the value of an environment variable again",
    value: "${env:WHERE}",
    env: { WHERE: "${var:host} $${x}" },
    becomes: "${var:host} $${x}",
  },
];

describe.concurrent("interpolation", () => {
  test.each(INTERPOLATED)("$says", async ({ value, env, files, becomes }) => {
    const project = `${PROJECT}vars: { host: shop.example.com, deep: "\${var:host}/\${stage}" }\n`;
    const body = await planned(
      { "tasc.yaml": project, "targets/shop.yaml": path(value), ...files },
      env === undefined ? {} : { env },
    );
    expect(body["entryPointUrlPath"]).toBe(becomes);
  });

  test("--dotenv loads variables, and the real environment overrides them", async () => {
    const body = await planned(
      {
        "targets/shop.yaml": path("${env:A}-${env:B}"),
        "vars.env": 'A=from-file\nB="from file"\n# a comment\n',
      },
      { args: ["--dotenv", "vars.env"], env: { A: "real" } },
    );
    expect(body["entryPointUrlPath"]).toBe("real-from file");
  });

  test("a field that contains a secret is sensitive as a whole", async () => {
    const body = await planned(
      { "targets/shop.yaml": path("/go?token=${secret:LINK_TOKEN}") },
      { env: { LINK_TOKEN: "link-token-000" } },
    );
    expect(body["entryPointUrlPath"]).toBe("(sensitive)");
  });

  test("only the variables and secrets of the chosen stage are required", async () => {
    const project = `${PROJECT}stages:
  a: { vars: { host: "\${env:HOST_A}" } }
  b: { vars: { host: "\${env:HOST_B}" }, service: { apiKey: "\${secret:KEY_B}" } }
`;
    const target = `${path("${var:host}")}stages:\n  b: { testCases: { x: { entryPointUrlPath: "\${env:ONLY_B}" } } }\n`;
    const body = await planned(
      { "tasc.yaml": project, "targets/shop.yaml": target },
      { args: ["--stage", "a"], env: { HOST_A: "host-a" } },
    );
    expect(body["entryPointUrlPath"]).toBe("host-a");
  });
});

interface Merged {
  readonly says: string;
  readonly files: Files;
  readonly args?: readonly string[];
  readonly body: JsonObject;
}

const TWO_STAGES = `${PROJECT}vars: { a: base, b: base }\nstages: { one: { vars: { b: one } }, two: {} }\n`;
const BODY = { name: "X", prompt: "P" };

const MERGED: readonly Merged[] = [
  {
    says: "a default applies if the field is not declared",
    files: {
      "targets/shop.yaml": `${caseWith("")}defaults: { testCases: { tags: [web], entryPointUrlPath: /d } }\n`,
    },
    body: { ...BODY, tagNames: ["web"], entryPointUrlPath: "/d" },
  },
  {
    says: "a declared list or text replaces the default",
    files: {
      "targets/shop.yaml": `${caseWith("    tags: [smoke]\n    entryPointUrlPath: /x\n")}defaults: { testCases: { tags: [web], entryPointUrlPath: /d } }\n`,
    },
    body: { ...BODY, tagNames: ["smoke"], entryPointUrlPath: "/x" },
  },
  {
    says: "a declared null overrides a default",
    files: {
      "targets/shop.yaml": `${caseWith("    folder: null\n")}defaults: { testCases: { folder: F } }\n`,
    },
    body: BODY,
  },
  {
    says: "defaults of one document apply to all documents of the target",
    files: {
      "targets/a.yaml": "target: shop\napp: Web Shop\ndefaults: { testCases: { tags: [web] } }\n",
      "targets/b.yaml":
        "target: shop\ntestCases: { x: { description: X, discovery: { prompt: P } } }\n",
    },
    body: { ...BODY, tagNames: ["web"] },
  },
  {
    says: "a default map is merged key by key",
    files: {
      "targets/shop.yaml": `${caseWith("")}defaults: { testCases: { discovery: { type: LOGIN } } }\n`,
    },
    body: { ...BODY, type: "LOGIN" },
  },
  {
    says: "a stage's override merges maps and replaces texts and lists",
    files: {
      "tasc.yaml": TWO_STAGES,
      "targets/shop.yaml": `${caseWith("    tags: [a, b]\n    entryPointUrlPath: /x\n")}stages: { one: { testCases: { x: { tags: [c], discovery: { type: LOGIN } } } } }\n`,
    },
    args: ["--stage", "one"],
    body: { ...BODY, tagNames: ["c"], entryPointUrlPath: "/x", type: "LOGIN" },
  },
  {
    says: "an override of another stage does not apply",
    files: {
      "tasc.yaml": TWO_STAGES,
      "targets/shop.yaml": `${caseWith("    tags: [a, b]\n")}stages: { one: { testCases: { x: { tags: [c] } } } }\n`,
    },
    args: ["--stage", "two"],
    body: { ...BODY, tagNames: ["a", "b"] },
  },
  {
    says: "a stage can override the defaults",
    files: {
      "tasc.yaml": TWO_STAGES,
      "targets/shop.yaml": `${caseWith("")}defaults: { testCases: { tags: [web] } }\nstages: { one: { defaults: { testCases: { tags: [one] } } } }\n`,
    },
    args: ["--stage", "one"],
    body: { ...BODY, tagNames: ["one"] },
  },
  {
    says: "a stage's variables are merged with those of the project",
    files: { "tasc.yaml": TWO_STAGES, "targets/shop.yaml": path("${var:a}-${var:b}") },
    args: ["--stage", "one"],
    body: { ...BODY, entryPointUrlPath: "base-one" },
  },
  {
    says: "a stage can add a test case that exists only there",
    files: {
      "tasc.yaml": TWO_STAGES,
      "targets/shop.yaml":
        "target: shop\napp: Web Shop\nstages: { one: { testCases: { x: { description: X, discovery: { prompt: P } } } } }\n",
    },
    args: ["--stage", "one"],
    body: BODY,
  },
  {
    says: "a byte order mark and CRLF are accepted",
    files: { "targets/shop.yaml": `\uFEFF${path("/x").replaceAll("\n", "\r\n")}` },
    body: { ...BODY, entryPointUrlPath: "/x" },
  },
  {
    says: "unquoted ON, OFF, yes and no are texts, as in YAML 1.2",
    files: { "targets/shop.yaml": caseWith("    runStatus: OFF\n    tags: [ON, yes, no, off]\n") },
    body: { ...BODY, tagNames: ["ON", "yes", "no", "off"] },
  },
  {
    says: "aliases within the limit are accepted",
    files: {
      "targets/shop.yaml": `${caseWith("    tags: &t [a, b]\n")}  y: { description: Y, discovery: { prompt: P }, tags: *t }\n`,
    },
    body: { ...BODY, tagNames: ["a", "b"] },
  },
  {
    says: "a pattern in tasc.yaml can name the manifests",
    files: {
      "tasc.yaml": `${PROJECT}manifests: ["e2e/**/*.yaml"]\n`,
      "e2e/deep/er/shop.yaml": path("/x"),
    },
    body: { ...BODY, entryPointUrlPath: "/x" },
  },
];

describe.concurrent("defaults, overrides and documents", () => {
  test.each(MERGED)("$says", async ({ files, args, body }) => {
    expect(await planned(files, args === undefined ? SINGLE : { args })).toEqual(body);
  });

  test("a stage overrides the API key and base URL of the service", async () => {
    await scene({ apiKey: "stage-key-1" }, async ({ project, service }) => {
      service.addTarget("Web Shop");
      await project.write({
        "tasc.yaml": `version: 1\nservice: { baseUrl: "http://127.0.0.1:9", apiKey: "\${secret:NOT_SET}" }\nstages:\n  one: { service: { baseUrl: "\${env:TASC_BASE_URL}", apiKey: "\${secret:STAGE_KEY}" } }\n`,
        "targets/shop.yaml": "target: shop\napp: Web Shop\n",
      });
      const { ran, value: plan } = await project.json(["plan"], { STAGE_KEY: "stage-key-1" });
      expect(ran.code, ran.stderr).toBe(0);
      expect(plan["baseUrl"]).toBe(service.url);
      expect(service.log.every((call) => call.key === "stage-key-1")).toBe(true);
      expect(text(plan["stage"])).toBe("one");
      expect(list(plan["changes"])).toEqual([]);
    });
  });
});
