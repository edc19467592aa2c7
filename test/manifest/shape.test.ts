import { describe } from "vitest";
import { testBadInputs } from "./bad-input.ts";
import { PROJECT } from "./loading.ts";

const SHOP = "target: shop\n";

describe("keys", () => {
  testBadInputs([
    {
      rule: "an unknown key is reported with the nearest correct key",
      document: `${SHOP}testCases:\n  login:\n    runStats: "ON"\n`,
      errors: [
        "targets/shop.yaml:4:5 unknown-key: Unknown key `runStats` / At `testCases.login.runStats`. Did you mean `runStatus`? Allowed here: `id`, `onlyStages`, `description`, `externalId`, `status`, `runStatus`, `reason`, `quarantine`, `interactionStatus`, `tags`, `folder`, `entryPointUrlPath`, `discovery` and `elements`.",
      ],
    },
    {
      rule: "an unknown key without a similar one is reported with the allowed keys",
      document: `${SHOP}environments: { default: { discoveryUrl: "https://a.example", whatever: 1 } }\n`,
      errors: [
        "targets/shop.yaml:2:63 unknown-key: Unknown key `whatever` / At `environments.default.whatever`. Allowed here: `id`, `onlyStages`, `name`, `discoveryUrl`, `testAccount`, `basicAuth`, `privateLocationName` and `additionalHeaderFields`.",
      ],
    },
    {
      rule: "keys in parts of fields, in defaults and in overrides are checked too",
      project: `${PROJECT}stages: { dev: {}, prod: {} }\ndefaultStage: dev\n`,
      document: `${SHOP}trackerIntegration: { usrname: bot }
defaults: { testCases: { tag: [web] }, testCase: {} }
stages: { prod: { testCases: { a: { discovery: { promt: x } } }, moved: [] } }
`,
      errors: [
        "targets/shop.yaml:2:23 unknown-key: Unknown key `usrname` / At `trackerIntegration.usrname`. Did you mean `username`? Allowed here: `domain`, `username`, `projectId` and `apiKey`.",
        "targets/shop.yaml:3:26 unknown-key: Unknown key `tag` / At `defaults.testCases.tag`. Did you mean `tags`? Allowed here: `description`, `externalId`, `status`, `runStatus`, `reason`, `quarantine`, `interactionStatus`, `tags`, `folder`, `entryPointUrlPath`, `discovery` and `elements`.",
        "targets/shop.yaml:3:40 unknown-key: Unknown key `testCase` / At `defaults.testCase`. Did you mean `testCases`? Allowed here: `environments`, `testCases` and `batchGenerations`.",
        "targets/shop.yaml:4:50 unknown-key: Unknown key `promt` / At `stages.prod.testCases.a.discovery.promt`. Did you mean `prompt`? Allowed here: `prompt`, `type` and `prerequisite`.",
        "targets/shop.yaml:4:66 unknown-key: Unknown key `moved` / At `stages.prod.moved`. Allowed here: `id`, `onlyStages`, `app`, `testIdAttribute`, `timeoutPerStep`, `trackerIntegration`, `onRemove`, `environments`, `defaults`, `testCases` and `batchGenerations`.",
      ],
    },
    {
      rule: "JavaScript's reserved property names are reported like any bad key, at every level",
      project: `${PROJECT}vars: { __proto__: a, constructor: b }\n`,
      document: `__proto__: {}
target: shop
testCases: { prototype: {}, constructor: {}, __proto__: { status: DRAFT } }
environments: { default: { additionalHeaderFields: { __proto__: x }, constructor: 1 } }
batchGenerations: { g: { context: { deep: [{ __proto__: 1 }] } } }
`,
      errors: [
        "targets/shop.yaml:1:1 unknown-key: Unknown key `__proto__` / At `__proto__`. Allowed here: `target`, `id`, `onlyStages`, `app`, `testIdAttribute`, `timeoutPerStep`, `trackerIntegration`, `onRemove`, `environments`, `defaults`, `testCases`, `batchGenerations`, `stages`, `moved` and `removed`.",
        "targets/shop.yaml:3:14 bad-key: `prototype` cannot be a key / At `testCases.prototype`. It is a reserved name. Choose another.",
        "targets/shop.yaml:3:29 bad-key: `constructor` cannot be a key / At `testCases.constructor`. It is a reserved name. Choose another.",
        "targets/shop.yaml:3:46 bad-key: `__proto__` cannot be a key / At `testCases.__proto__`. It is a reserved name. Choose another.",
        "targets/shop.yaml:4:54 bad-key: `__proto__` cannot be a key / At `environments.default.additionalHeaderFields.__proto__`. It is a reserved name. Choose another.",
        "targets/shop.yaml:4:70 unknown-key: Unknown key `constructor` / At `environments.default.constructor`. Allowed here: `id`, `onlyStages`, `name`, `discoveryUrl`, `testAccount`, `basicAuth`, `privateLocationName` and `additionalHeaderFields`.",
        "targets/shop.yaml:5:46 bad-key: `__proto__` cannot be a key / At `batchGenerations.g.context.deep[0].__proto__`. It is a reserved name. Choose another.",
        "tasc.yaml:3:9 bad-key: `__proto__` cannot be a key / At `vars.__proto__`. It is a reserved name. Choose another.",
        "tasc.yaml:3:23 bad-key: `constructor` cannot be a key / At `vars.constructor`. It is a reserved name. Choose another.",
      ],
    },
    {
      rule: "resource keys contain only letters, digits, _ and -, and begin with a letter or digit",
      document: `${SHOP}testCases: { "log in": {}, -x: {}, a.b: {}, "": {}, Übung: {} }\n`,
      errors: [
        "targets/shop.yaml:2:14 bad-key: `log in` cannot be a key / At `testCases.log in`. It must be a key: letters, digits, `_` and `-`, the first a letter or a digit. `log-in` is possible.",
        "targets/shop.yaml:2:28 bad-key: `-x` cannot be a key / At `testCases.-x`. It must be a key: letters, digits, `_` and `-`, the first a letter or a digit. `x` is possible.",
        "targets/shop.yaml:2:36 bad-key: `a.b` cannot be a key / At `testCases.a.b`. It must be a key: letters, digits, `_` and `-`, the first a letter or a digit. `a-b` is possible.",
        "targets/shop.yaml:2:45 bad-key: `` cannot be a key / At `testCases.`. It must be a key: letters, digits, `_` and `-`, the first a letter or a digit.",
        "targets/shop.yaml:2:53 bad-key: `Übung` cannot be a key / At `testCases.Übung`. It must be a key: letters, digits, `_` and `-`, the first a letter or a digit. `Ubung` is possible.",
      ],
    },
    {
      rule: "a target document must have the key `target`",
      document: "app: Shop\n",
      errors: [
        "targets/shop.yaml:1:1 missing-key: `target` is missing / The key `target` is required. It must be a key: letters, digits, `_` and `-`, the first a letter or a digit.",
      ],
    },
    {
      rule: "a target's key cannot be an interpolation",
      document: "target: ${stage}\n",
      errors: [
        'targets/shop.yaml:1:9 bad-value: `target` must be a key: letters, digits, `_` and `-`, the first a letter or a digit / At `target`. Found the string "${stage}".',
      ],
    },
    {
      rule: "a misspelt required key is reported once, not also as missing",
      document: `${SHOP}testCases: { a: { elements: [{ selectors: [{ selectorTyp: TEXT, selector: x }] }] } }\n`,
      errors: [
        "targets/shop.yaml:2:46 unknown-key: Unknown key `selectorTyp` / At `testCases.a.elements[0].selectors[0].selectorTyp`. Did you mean `selectorType`? Allowed here: `selectorType`, `selector` and `options`.",
      ],
    },
    {
      rule: "a missing required key of a list item is reported",
      document: `${SHOP}testCases: { a: { elements: [{ selectors: [{ selectorType: TEXT }] }, { interaction: {} }] } }\n`,
      errors: [
        "targets/shop.yaml:2:44 missing-key: `testCases.a.elements[0].selectors[0].selector` is missing / At `testCases.a.elements[0].selectors[0]`. The key `selector` is required. It must be a string.",
        "targets/shop.yaml:2:73 missing-key: `testCases.a.elements[1].interaction.action` is missing / At `testCases.a.elements[1].interaction`. The key `action` is required. It must be a string that is not empty.",
      ],
    },
    {
      rule: "keys are not interpolated",
      document: `${SHOP}environments: { default: { additionalHeaderFields: { "X-\${stage}": "1" } } }\n`,
      errors: [
        "targets/shop.yaml:2:54 bad-key: `X-${stage}` cannot be a key / At `environments.default.additionalHeaderFields.X-${stage}`. Keys are not interpolated, only values are. Write the key in full.",
      ],
    },
  ]);
});

describe("values", () => {
  testBadInputs([
    {
      rule: "a misspelt value is reported with the nearest correct value",
      document: `${SHOP}testCases: { a: { status: ENABELD, runStatus: on } }\nonRemove: Disable\n`,
      errors: [
        'targets/shop.yaml:2:27 bad-value: `testCases.a.status` must be one of `ENABLED`, `DISABLED`, `DRAFT`, `OUTDATED` or `PROVISIONAL`, or an interpolation that resolves to one / At `testCases.a.status`. Found the string "ENABELD". Did you mean `ENABLED`?',
        'targets/shop.yaml:2:47 bad-value: `testCases.a.runStatus` must be one of `ON` or `OFF`, or an interpolation that resolves to one / At `testCases.a.runStatus`. Found the string "on". Did you mean `ON`?',
        'targets/shop.yaml:3:11 bad-value: `onRemove` must be one of `ignore` or `disable`, or an interpolation that resolves to one / At `onRemove`. Found the string "Disable". Did you mean `disable`?',
      ],
    },
    {
      rule: "a value of the wrong type is reported with the type found",
      document: `${SHOP}app: 7
timeoutPerStep: "10000"
testCases:
  a: { tags: smoke, elements: { a: 1 }, description: [x], runStatus: true }
  b: []
  c:
environments: none
`,
      errors: [
        'targets/shop.yaml:2:6 bad-value: `app` must be a string that is not empty / At `app`. Found the number 7. Put it in quotes: `"7"`.',
        'targets/shop.yaml:3:17 bad-value: `timeoutPerStep` must be an integer of at least 0, or an interpolation that resolves to one / At `timeoutPerStep`. Found the string "10000". Remove the quotes.',
        'targets/shop.yaml:5:14 bad-value: `testCases.a.tags` must be a list / At `testCases.a.tags`. Found the string "smoke".',
        "targets/shop.yaml:5:21 bad-value: `testCases.a.elements` must be a list / At `testCases.a.elements`. Found a map.",
        "targets/shop.yaml:5:41 bad-value: `testCases.a.description` must be a string that is not empty / At `testCases.a.description`. Found a list.",
        "targets/shop.yaml:5:70 bad-value: `testCases.a.runStatus` must be one of `ON` or `OFF`, or an interpolation that resolves to one / At `testCases.a.runStatus`. Found the boolean true.",
        "targets/shop.yaml:6:3 bad-value: `testCases.b` must be a map / At `testCases.b`. Found an empty list.",
        "targets/shop.yaml:7:3 bad-value: `testCases.c` must be a map / At `testCases.c`. Found nothing (null). An empty map is written `{}`.",
        "targets/shop.yaml:8:15 bad-value: `environments` must be a map / At `environments`. Found a string.",
      ],
    },
    {
      rule: "numbers outside their limits are rejected",
      document: `${SHOP}timeoutPerStep: -1\n`,
      project: `${PROJECT}policy: { maxDisabledPercent: 101, maxChanges: 1.5 }\n`,
      errors: [
        "targets/shop.yaml:2:17 bad-value: `timeoutPerStep` must be an integer of at least 0, or an interpolation that resolves to one / At `timeoutPerStep`. Found the number -1.",
        "tasc.yaml:3:31 bad-value: `policy.maxDisabledPercent` must be a number from 0 to 100, or an interpolation that resolves to one / At `policy.maxDisabledPercent`. Found the number 101.",
        "tasc.yaml:3:48 bad-value: `policy.maxChanges` must be an integer of at least 0, or an interpolation that resolves to one / At `policy.maxChanges`. Found the number 1.5.",
      ],
    },
    {
      rule: "null is only accepted for fields that the service can clear",
      document: `${SHOP}app: null\ntestCases: { a: { description: ~, folder: null, externalId: null, tags: null } }\n`,
      errors: [
        "targets/shop.yaml:2:6 bad-value: `app` must be a string that is not empty / At `app`. Found nothing (null). It cannot be null. Leave the key out instead.",
        "targets/shop.yaml:3:32 bad-value: `testCases.a.description` must be a string that is not empty / At `testCases.a.description`. Found nothing (null). It cannot be null. Leave the key out instead.",
        "targets/shop.yaml:3:73 bad-value: `testCases.a.tags` must be a list / At `testCases.a.tags`. Found nothing (null). It cannot be null. Leave the key out instead.",
      ],
    },
    {
      rule: "empty texts are rejected for an app and in tags",
      document: `${SHOP}app: ""\ntestCases: { a: { tags: [""] } }\n`,
      errors: [
        'targets/shop.yaml:2:6 bad-value: `app` must be a string that is not empty / At `app`. Found the string "".',
        'targets/shop.yaml:3:26 bad-value: `testCases.a.tags[0]` must be a string that is not empty / At `testCases.a.tags[0]`. Found the string "".',
      ],
    },
    {
      rule: "a URL must have a scheme and a host",
      document: `${SHOP}environments: { default: { discoveryUrl: shop.example.com }, b: { discoveryUrl: "localhost:3000" } }\n`,
      errors: [
        'targets/shop.yaml:2:42 bad-value: `environments.default.discoveryUrl` must be a URL, e.g. `https://shop.example.com`, or null / At `environments.default.discoveryUrl`. Found the string "shop.example.com".',
        'targets/shop.yaml:2:81 bad-value: `environments.b.discoveryUrl` must be a URL, e.g. `https://shop.example.com`, or null / At `environments.b.discoveryUrl`. Found the string "localhost:3000".',
      ],
    },
    {
      rule: "an id must be a UUID",
      document: `${SHOP}id: "42"\ntestCases: { a: { id: abc } }\n`,
      errors: [
        'targets/shop.yaml:2:5 bad-value: `id` must be a UUID, e.g. `6f1d8c1e-0b7a-4c55-9a3e-2f2b8f0c9d11` / At `id`. Found the string "42".',
        'targets/shop.yaml:3:23 bad-value: `testCases.a.id` must be a UUID, e.g. `6f1d8c1e-0b7a-4c55-9a3e-2f2b8f0c9d11` / At `testCases.a.id`. Found the string "abc".',
      ],
    },
    {
      rule: "a prerequisite must be a key or a map with only a description",
      document: `${SHOP}testCases:
  a: { discovery: { prerequisite: "log in" } }
  b: { discovery: { prerequisite: { descripton: Log in } } }
  c: { discovery: { prerequisite: { description: Log in, id: 1 } } }
  d: { discovery: { prerequisite: [a] } }
  e: { discovery: { prerequisite: {} } }
`,
      errors: [
        'targets/shop.yaml:3:35 bad-value: `testCases.a.discovery.prerequisite` must be the key of a test case of the same target, or `{ description: … }` of one that is not managed here / At `testCases.a.discovery.prerequisite`. Found the string "log in".',
        "targets/shop.yaml:4:37 unknown-key: Unknown key `descripton` / At `testCases.b.discovery.prerequisite.descripton`. Did you mean `description`? Allowed here: `description`.",
        "targets/shop.yaml:5:58 unknown-key: Unknown key `id` / At `testCases.c.discovery.prerequisite.id`. Allowed here: `description`.",
        "targets/shop.yaml:6:21 bad-value: `testCases.d.discovery.prerequisite` must be the key of a test case of the same target, or `{ description: … }` of one that is not managed here / At `testCases.d.discovery.prerequisite`. Found a list.",
        "targets/shop.yaml:7:21 missing-key: `testCases.e.discovery.prerequisite.description` is missing / At `testCases.e.discovery.prerequisite`. The key `description` is required. It must be a string that is not empty.",
      ],
    },
    {
      rule: "an element cannot have both a locator line and selectors",
      project: `${PROJECT}stages: { dev: {}, prod: {} }\ndefaultStage: dev\n`,
      document: `${SHOP}defaults: { testCases: { elements: [{ locatorLine: a, selectors: [] }] } }
testCases: { a: { elements: [{ locatorLine: a }, { selectors: [], locatorLine: a }] } }
stages: { prod: { testCases: { a: { elements: [{ locatorLine: a, selectors: [] }] } } } }
`,
      errors: [
        "targets/shop.yaml:2:39 two-locators: An element has both `locatorLine` and `selectors` / At `defaults.testCases.elements[0].locatorLine`. The service creates selectors from the locator line, so one of them would be lost. Keep one.",
        "targets/shop.yaml:3:67 two-locators: An element has both `locatorLine` and `selectors` / At `testCases.a.elements[1].locatorLine`. The service creates selectors from the locator line, so one of them would be lost. Keep one.",
        "targets/shop.yaml:4:50 two-locators: An element has both `locatorLine` and `selectors` / At `stages.prod.testCases.a.elements[0].locatorLine`. The service creates selectors from the locator line, so one of them would be lost. Keep one.",
      ],
    },
    {
      rule: "a long text is shortened in the message",
      document: `${SHOP}testCases: { a: { status: "${"very ".repeat(30)}long" } }\n`,
      errors: [
        'targets/shop.yaml:2:27 bad-value: `testCases.a.status` must be one of `ENABLED`, `DISABLED`, `DRAFT`, `OUTDATED` or `PROVISIONAL`, or an interpolation that resolves to one / At `testCases.a.status`. Found the string "very very very very very very very very very very very ve…".',
      ],
    },
    {
      rule: "an error in an aliased value is reported once per use, at the place of the anchor",
      document: `${SHOP}testCases:\n  a: &a { status: DRAFTS }\n  b: *a\n`,
      errors: [
        'targets/shop.yaml:3:19 bad-value: `testCases.a.status` must be one of `ENABLED`, `DISABLED`, `DRAFT`, `OUTDATED` or `PROVISIONAL`, or an interpolation that resolves to one / At `testCases.a.status`. Found the string "DRAFTS". Did you mean `DRAFT`?',
        'targets/shop.yaml:3:19 bad-value: `testCases.b.status` must be one of `ENABLED`, `DISABLED`, `DRAFT`, `OUTDATED` or `PROVISIONAL`, or an interpolation that resolves to one / At `testCases.b.status`. Found the string "DRAFTS". Did you mean `DRAFT`?',
      ],
    },
  ]);
});

describe("tasc.yaml", () => {
  testBadInputs([
    {
      rule: "must have a version",
      project: PROJECT.replace("version: 1\n", ""),
      document: SHOP,
      errors: [
        "tasc.yaml:1:1 missing-key: `version` is missing / The key `version` is required. It must be 1.",
      ],
    },
    {
      rule: "must have version 1",
      project: PROJECT.replace("1", "2"),
      document: SHOP,
      errors: [
        "tasc.yaml:1:10 bad-value: `version` must be 1 / At `version`. Found the number 2. A newer tasc may read it.",
      ],
    },
    {
      rule: "must have a version that is a number",
      project: PROJECT.replace("1", '"1"'),
      document: SHOP,
      errors: [
        'tasc.yaml:1:10 bad-value: `version` must be 1 / At `version`. Found the string "1". Remove the quotes.',
      ],
    },
    {
      rule: "must have valid settings",
      project: `version: 1
service: { baseUrl: example.com, apiKey: "\${secret:KEY}", concurrency: 0, requestTimeout: 30, retries: -1, timeout: 3s }
state: { backend: postgresql, adress: x }
policy: { onRemove: delete, protected: testCase.*, requireTags: [1] }
vars: { a: [1], b: null }
defaultStage: my stage
`,
      document: SHOP,
      errors: [
        'tasc.yaml:2:21 bad-value: `service.baseUrl` must be a URL, e.g. `https://shop.example.com` / At `service.baseUrl`. Found the string "example.com".',
        "tasc.yaml:2:72 bad-value: `service.concurrency` must be an integer of at least 1, or an interpolation that resolves to one / At `service.concurrency`. Found the number 0.",
        "tasc.yaml:2:91 bad-value: `service.requestTimeout` must be a duration of up to a day, e.g. `500ms`, `30s` or `2m` / At `service.requestTimeout`. Found the number 30. Write the unit too: `30s`.",
        "tasc.yaml:2:104 bad-value: `service.retries` must be an integer of at least 0, or an interpolation that resolves to one / At `service.retries`. Found the number -1.",
        "tasc.yaml:2:108 unknown-key: Unknown key `timeout` / At `service.timeout`. Allowed here: `baseUrl`, `apiKey`, `concurrency`, `requestTimeout`, `retries` and `rateLimit`.",
        'tasc.yaml:3:19 bad-value: `state.backend` must be one of `local`, `postgres` or `http`, or an interpolation that resolves to one / At `state.backend`. Found the string "postgresql". Did you mean `postgres`?',
        "tasc.yaml:3:31 unknown-key: Unknown key `adress` / At `state.adress`. Did you mean `address`? Allowed here: `backend`, `fingerprintKey`, `path`, `url`, `schema`, `table`, `owner`, `address`, `lock`, `lockAddress`, `unlockAddress`, `lockMethod`, `unlockMethod`, `updateMethod`, `username` and `password`.",
        'tasc.yaml:4:21 bad-value: `policy.onRemove` must be one of `ignore` or `disable`, or an interpolation that resolves to one / At `policy.onRemove`. Found the string "delete".',
        'tasc.yaml:4:40 bad-value: `policy.protected` must be a list / At `policy.protected`. Found the string "testCase.*".',
        'tasc.yaml:4:66 bad-value: `policy.requireTags[0]` must be a string that is not empty / At `policy.requireTags[0]`. Found the number 1. Put it in quotes: `"1"`.',
        "tasc.yaml:5:9 bad-value: `vars.a` must be a string, a number or a boolean / At `vars.a`. Found a list.",
        "tasc.yaml:5:20 bad-value: `vars.b` must be a string, a number or a boolean / At `vars.b`. Found nothing (null). It cannot be null. Leave the key out instead.",
        'tasc.yaml:6:15 bad-value: `defaultStage` must be a key: letters, digits, `_` and `-`, the first a letter or a digit / At `defaultStage`. Found the string "my stage".',
      ],
    },
    {
      rule: "must have durations with a unit and of at most a day",
      project: `${PROJECT}stages: { a: { service: { requestTimeout: 30 s } }, b: { service: { requestTimeout: "\${env:LONG}" } } }\ndefaultStage: b\n`,
      document: SHOP,
      env: { KEY: "k", LONG: "25h" },
      errors: [
        'tasc.yaml:3:43 bad-value: `stages.a.service.requestTimeout` must be a duration of up to a day, e.g. `500ms`, `30s` or `2m` / At `stages.a.service.requestTimeout`. Found the string "30 s".',
        'tasc.yaml:3:86 bad-value: `stages.b.service.requestTimeout` must be a duration of up to a day, e.g. `500ms`, `30s` or `2m` / At `stages.b.service.requestTimeout`. `${env:LONG}` resolved to the string "25h".',
      ],
    },
    {
      rule: "must have patterns that are texts, and reports no missing documents if they are not",
      project: `${PROJECT}manifests: [5]\n`,
      document: SHOP,
      errors: [
        'tasc.yaml:3:13 bad-value: `manifests[0]` must be a string that is not empty / At `manifests[0]`. Found the number 5. Put it in quotes: `"5"`.',
      ],
    },
    {
      rule: "with an invalid stage does not make overrides for that stage unknown",
      project: `${PROJECT}stages: { dev: , prod: {} }\n`,
      document: `${SHOP}stages: { dev: {}, prod: {} }\n`,
      errors: [
        "tasc.yaml:3:11 bad-value: `stages.dev` must be a map / At `stages.dev`. Found nothing (null). An empty map is written `{}`.",
      ],
    },
    {
      rule: "must have stages that are maps",
      project: `${PROJECT}stages:\n  dev:\n  prod: { vras: {} }\n`,
      document: SHOP,
      errors: [
        "tasc.yaml:4:3 bad-value: `stages.dev` must be a map / At `stages.dev`. Found nothing (null). An empty map is written `{}`.",
        "tasc.yaml:5:11 unknown-key: Unknown key `vras` / At `stages.prod.vras`. Did you mean `vars`? Allowed here: `service`, `state`, `vars`, `policy` and `defaults`.",
      ],
    },
  ]);
});
