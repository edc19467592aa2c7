import { compileGlob } from "../../model/glob.ts";
import { type Json, type JsonObject, type Path, isArray, isObject } from "../../model/json.ts";
import type { Document } from "../document.ts";
import { CREDENTIAL, type FoundTemplate, isTemplate } from "../interpolation.ts";
import { type ManifestProblem, didYouMean, manifestProblem, nearest, shortened } from "../problem.ts";
import { stagesInWords } from "../settings.ts";
import { bare, isHidden, partsAlong } from "../shape.ts";
import { PROJECT, SECTIONS, TARGET_DOCUMENT } from "../tables.ts";

/** What can be said of one document alone, for all its stages at once. */
interface Subject {
  readonly document: Document;
  /** What the tables say of the whole document. */
  readonly root: typeof PROJECT_ROOT;
  readonly templates: readonly FoundTemplate[];
  /** The project's stages; `undefined` where they are not known. */
  readonly stages: readonly string[] | undefined;
}

type Rule = (subject: Subject) => readonly ManifestProblem[];

const PROJECT_RULES: readonly Rule[] = [placeholdersAreKnown, credentialsAreSecrets, protectedGlobsAreGlobs];

const TARGET_RULES: readonly Rule[] = [
  placeholdersAreKnown,
  credentialsAreSecrets,
  stagesAreKnown,
  elementsHaveOneLocator,
];

const PROJECT_ROOT = bare(PROJECT);
const TARGET_ROOT = bare(TARGET_DOCUMENT);

/** Checks `tasc.yaml` beyond its shape. */
export function checkProject(
  document: Document,
  templates: readonly FoundTemplate[],
): readonly ManifestProblem[] {
  const subject = { document, root: PROJECT_ROOT, templates, stages: undefined };
  return PROJECT_RULES.flatMap((rule) => rule(subject));
}

/** Checks a target document beyond its shape; `stages` are the project's, where they are known. */
export function checkTargetDocument(
  document: Document,
  templates: readonly FoundTemplate[],
  stages: readonly string[] | undefined,
): readonly ManifestProblem[] {
  const subject = { document, root: TARGET_ROOT, templates, stages };
  const problems: ManifestProblem[] = [];
  for (const rule of TARGET_RULES) for (const problem of rule(subject)) problems.push(problem);
  return problems;
}

interface DocumentLayer {
  readonly path: Path;
  readonly value: JsonObject;
}

/** The document itself, and its overrides for each stage: maps with the same keys. */
function layersIn({ root, value }: Document): readonly DocumentLayer[] {
  const layers: DocumentLayer[] = [{ path: root, value }];
  if (isObject(value.stages))
    for (const [stage, override] of Object.entries(value.stages))
      if (isObject(override)) layers.push({ path: [...root, "stages", stage], value: override });
  return layers;
}

/** Most documents do not have a key, and show it at a glance, unless an escape in double quotes makes the word. */
function mayHave({ text }: Document, key: string): boolean {
  return text.includes(key) || text.includes("\\");
}

/** An element is found by `locatorLine` or by `selectors`, not by both. */
function elementsHaveOneLocator({ document }: Subject): readonly ManifestProblem[] {
  const problems: ManifestProblem[] = [];
  const check = (holder: Json | undefined, path: Path): void => {
    const elements = isObject(holder) && isArray(holder.elements) ? holder.elements : [];
    for (const [at, element] of elements.entries())
      if (isObject(element) && element.locatorLine !== undefined && element.selectors !== undefined)
        problems.push(
          manifestProblem(
            "two-locators",
            { file: document.file, path: [...path, "elements", at, "locatorLine"] },
            "An element has both `locatorLine` and `selectors`",
            "The service creates selectors from the locator line, so one of them would be lost. Keep one.",
            { at: "key" },
          ),
        );
  };
  for (const { path, value } of mayHave(document, "locatorLine") ? layersIn(document) : []) {
    const { testCases, defaults } = value;
    for (const [key, testCase] of isObject(testCases) ? Object.entries(testCases) : [])
      check(testCase, [...path, "testCases", key]);
    if (isObject(defaults)) check(defaults.testCases, [...path, "defaults", "testCases"]);
  }
  return problems;
}

/** Every key under `stages`, and every entry of `onlyStages`, is a stage of the project. */
function stagesAreKnown({ document, stages }: Subject): readonly ManifestProblem[] {
  const { file, root, value } = document;
  if (stages === undefined) return [];
  const problems: ManifestProblem[] = [];
  const check = (path: Path, stage: Json, at?: "key"): void => {
    if (typeof stage !== "string" || stages.includes(stage)) return;
    const detail = `${stagesInWords(stages)}${didYouMean(nearest(stage, stages))}`;
    const problem = manifestProblem(
      "unknown-stage",
      { file, path },
      `There is no stage \`${stage}\``,
      detail,
    );
    problems.push(at === undefined ? problem : { ...problem, at });
  };
  if (isObject(value.stages))
    for (const stage of Object.keys(value.stages)) check([...root, "stages", stage], stage, "key");
  if (!mayHave(document, "onlyStages")) return problems;
  const checkOnly = (holder: Json, path: Path): void => {
    const names = isObject(holder) && isArray(holder.onlyStages) ? holder.onlyStages : [];
    for (const [at, name] of names.entries()) check([...path, "onlyStages", at], name);
  };
  for (const layer of layersIn(document)) {
    checkOnly(layer.value, layer.path);
    for (const { name } of SECTIONS) {
      const section = layer.value[name];
      for (const [key, resource] of isObject(section) ? Object.entries(section) : [])
        checkOnly(resource, [...layer.path, name, key]);
    }
  }
  return problems;
}

/** Every `${…}` is an interpolation that tasc knows, also in stages that are not chosen. */
function placeholdersAreKnown({ document, root, templates }: Subject): readonly ManifestProblem[] {
  return templates.flatMap(({ path, template }) =>
    template.faults.map(({ source, reason }) => {
      // Where the value is to be hidden, so is what was meant as a placeholder: it may be the password itself.
      const shown = partsAlong(root, path).some(isHidden) ? "${…}" : shortened(source);
      const origin = { file: document.file, path: [...document.root, ...path] };
      const summary = `\`${shown}\` is not an interpolation`;
      return manifestProblem("bad-placeholder", origin, summary, reason, { within: source });
    }),
  );
}

/** What `${env:…}` brings in shows in every plan, so it may not name what looks like a credential. */
function credentialsAreSecrets({ document, templates }: Subject): readonly ManifestProblem[] {
  return templates.flatMap(({ path, template }) =>
    template.parts.flatMap((part) => {
      if (part.kind !== "env" || !CREDENTIAL.test(part.name)) return [];
      const { name, source } = part;
      const origin = { file: document.file, path: [...document.root, ...path] };
      const detail = `\`\${env:…}\` shows its value in plans and messages. Write \`\${secret:${name}}\`, or give the variable another name if it is not secret.`;
      const summary = `\`${name}\` looks like a credential`;
      return [manifestProblem("credential-in-env", origin, summary, detail, { within: source })];
    }),
  );
}

/** The globs of a policy mean something, in stages that are not chosen too. */
function protectedGlobsAreGlobs({ document }: Subject): readonly ManifestProblem[] {
  return layersIn(document).flatMap(({ path, value }) => {
    const globs = isObject(value.policy) ? value.policy.protected : undefined;
    return (isArray(globs) ? globs : []).flatMap((source, at) => {
      if (typeof source !== "string" || isTemplate(source)) return [];
      const glob = compileGlob(source);
      if (!("fault" in glob)) return [];
      const origin = { file: document.file, path: [...path, "policy", "protected", at] };
      const detail = `\`${source}\`: ${glob.fault}.`;
      return [manifestProblem("bad-glob", origin, "The glob cannot be used", detail)];
    });
  });
}
