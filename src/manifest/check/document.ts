import { compileGlob } from "../../model/glob.ts";
import { type Json, type JsonObject, type Path, isArray, isObject } from "../../model/json.ts";
import type { Document } from "../document.ts";
import { CREDENTIAL, type FoundTemplate, isTemplate } from "../interpolation.ts";
import { type ManifestProblem, didYouMean, manifestProblem, nearest, shortened } from "../problem.ts";
import { stagesInWords } from "../settings.ts";
import { type ManifestPart, bare, isHidden, partsAlong } from "../shape.ts";
import { PROJECT, SECTIONS, TARGET_DOCUMENT } from "../tables.ts";

/**
 * Checks a document beyond its shape: what can be said of it alone, for all its stages at once.
 *
 * @param stages the project's, where they are known
 */
export function checkDocument(
  kind: "project" | "target",
  document: Document,
  templates: readonly FoundTemplate[],
  stages?: readonly string[],
): readonly ManifestProblem[] {
  const problems: ManifestProblem[] = [];
  checkTemplates(document, kind === "project" ? PROJECT_ROOT : TARGET_ROOT, templates, problems);
  if (kind === "project") protectedGlobsAreGlobs(document, problems);
  else {
    if (stages !== undefined) stagesAreKnown(document, stages, problems);
    if (mayHave(document, "locatorLine")) elementsHaveOneLocator(document, problems);
  }
  return problems;
}

const PROJECT_ROOT = bare(PROJECT);
const TARGET_ROOT = bare(TARGET_DOCUMENT);

/** The document itself, and its overrides for each stage: maps with the same keys. */
function layersIn({ root, value }: Document): readonly { readonly path: Path; readonly value: JsonObject }[] {
  const overrides = Object.entries(isObject(value.stages) ? value.stages : {});
  const layers = overrides.flatMap(([stage, override]) =>
    isObject(override) ? [{ path: [...root, "stages", stage], value: override }] : [],
  );
  return [{ path: root, value }, ...layers];
}

/** Most documents do not have a key, and show it at a glance, unless an escape in double quotes makes the word. */
function mayHave({ text }: Document, key: string): boolean {
  return text.includes(key) || text.includes("\\");
}

/** An element is found by `locatorLine` or by `selectors`, not by both. */
function elementsHaveOneLocator(document: Document, problems: ManifestProblem[]): void {
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
  for (const { path, value } of layersIn(document)) {
    const { testCases, defaults } = value;
    for (const [key, testCase] of isObject(testCases) ? Object.entries(testCases) : [])
      check(testCase, [...path, "testCases", key]);
    if (isObject(defaults)) check(defaults.testCases, [...path, "defaults", "testCases"]);
  }
}

/** Every key under `stages`, and every entry of `onlyStages`, is a stage of the project. */
function stagesAreKnown(document: Document, stages: readonly string[], problems: ManifestProblem[]): void {
  const { file, root, value } = document;
  const check = (path: Path, stage: Json, extras: { readonly at?: "key" } = {}): void => {
    if (typeof stage !== "string" || stages.includes(stage)) return;
    const detail = `${stagesInWords(stages)}${didYouMean(nearest(stage, stages))}`;
    const summary = `There is no stage \`${stage}\``;
    problems.push(manifestProblem("unknown-stage", { file, path }, summary, detail, extras));
  };
  if (isObject(value.stages))
    for (const stage of Object.keys(value.stages)) check([...root, "stages", stage], stage, { at: "key" });
  if (!mayHave(document, "onlyStages")) return;
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
}

/**
 * Every `${…}` is an interpolation that tasc knows, also in stages that are not chosen; and what `${env:…}` brings in
 * shows in every plan, so it may not name what looks like a credential.
 */
function checkTemplates(
  { file, root }: Document,
  part: ManifestPart,
  templates: readonly FoundTemplate[],
  problems: ManifestProblem[],
): void {
  for (const { path, template } of templates) {
    const add = (code: string, summary: string, detail: string, within: string): void => {
      problems.push(manifestProblem(code, { file, path: [...root, ...path] }, summary, detail, { within }));
    };
    for (const { source, reason } of template.faults) {
      // Where the value is to be hidden, so is what was meant as a placeholder: it may be the password itself.
      const shown = partsAlong(part, path).some(isHidden) ? "${…}" : shortened(source);
      add("bad-placeholder", `\`${shown}\` is not an interpolation`, reason, source);
    }
    for (const one of template.parts) {
      if (one.kind !== "env" || !CREDENTIAL.test(one.name)) continue;
      const detail = `\`\${env:…}\` shows its value in plans and messages. Write \`\${secret:${one.name}}\`, or give the variable another name if it is not secret.`;
      add("credential-in-env", `\`${one.name}\` looks like a credential`, detail, one.source);
    }
  }
}

/** The globs of a policy mean something, in stages that are not chosen too. */
function protectedGlobsAreGlobs(document: Document, problems: ManifestProblem[]): void {
  for (const { path, value } of layersIn(document)) {
    const globs = isObject(value.policy) ? value.policy.protected : undefined;
    for (const [at, source] of isArray(globs) ? globs.entries() : []) {
      if (typeof source !== "string" || isTemplate(source)) continue;
      const glob = compileGlob(source);
      if (!("fault" in glob)) continue;
      const origin = { file: document.file, path: [...path, "policy", "protected", at] };
      const detail = `\`${source}\`: ${glob.fault}.`;
      problems.push(manifestProblem("bad-glob", origin, "The glob cannot be used", detail));
    }
  }
}
