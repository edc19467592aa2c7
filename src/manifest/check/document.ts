import { compileGlob } from "../../model/glob.ts";
import { type Json, type Path, defined, isArray, isObject, valueAt } from "../../model/json.ts";
import { type Document, scopesIn } from "../document.ts";
import { CREDENTIAL } from "../interpolation.ts";
import { type FoundTemplate, isTemplate } from "../template.ts";
import {
  type ManifestProblem,
  didYouMean,
  manifestProblem,
  nearest,
  shortened,
} from "../problem.ts";
import { stagesInWords } from "../stages.ts";
import { type ManifestPart, isHidden, partsAlong } from "../shape.ts";
import { DOCUMENTS, type DocumentKind, SECTIONS } from "../tables.ts";

/**
 * Checks a document beyond its shape, for all stages at once.
 * @param stages the project's stages, if they are known
 */
export function checkDocument(
  kind: DocumentKind,
  document: Document,
  templates: readonly FoundTemplate[],
  stages?: readonly string[],
): readonly ManifestProblem[] {
  const problems: ManifestProblem[] = [];
  checkTemplates(document, DOCUMENTS[kind], templates, problems);
  if (kind === "project") checkProtectedGlobs(document, problems);
  else checkResources(document, stages, problems);
  return problems;
}

/**
 * Checks that stages exist, and that an element does not have both `locatorLine` and `selectors`.
 */
function checkResources(
  document: Document,
  stages: readonly string[] | undefined,
  problems: ManifestProblem[],
): void {
  const { file, root, value } = document;
  const checkStage = (stage: Json, path: Path, at?: "key"): void => {
    if (typeof stage !== "string" || stages === undefined || stages.includes(stage)) return;
    const detail = `${stagesInWords(stages)}${didYouMean(nearest(stage, stages.slice(0, 100)))}`;
    const summary = `There is no stage \`${stage}\``;
    problems.push(
      manifestProblem("unknown-stage", { file, path }, summary, detail, defined({ at })),
    );
  };
  const check = (holder: Json | undefined, path: Path, section?: string, key = ""): void => {
    if (!isObject(holder)) return;
    const { onlyStages, elements } = holder;
    // Most resources have neither, so no path is built for them.
    if (onlyStages === undefined && elements === undefined) return;
    const steps = section === undefined ? path : [...path, section, key];
    if (isArray(onlyStages))
      for (const [at, stage] of onlyStages.entries())
        checkStage(stage, [...steps, "onlyStages", at]);
    for (const [at, element] of isArray(elements) ? elements.entries() : []) {
      if (
        !isObject(element) ||
        element.locatorLine === undefined ||
        element.selectors === undefined
      )
        continue;
      const origin = { file, path: [...steps, "elements", at, "locatorLine"] };
      const detail =
        "The service creates selectors from the locator line, so one of them would be lost. Keep one.";
      const summary = "An element has both `locatorLine` and `selectors`";
      problems.push(manifestProblem("two-locators", origin, summary, detail, { at: "key" }));
    }
  };
  if (isObject(value.stages))
    for (const stage of Object.keys(value.stages))
      checkStage(stage, [...root, "stages", stage], "key");
  for (const { path, value: layer } of scopesIn(document)) {
    check(layer, path);
    for (const { name } of SECTIONS) {
      const section = layer[name];
      if (isObject(section)) for (const key in section) check(section[key], path, name, key);
    }
    if (isObject(layer.defaults)) check(layer.defaults.testCases, path, "defaults", "testCases");
  }
}

/**
 * Checks, also for stages not chosen, that every `${…}` is known to tasc and that none shows a
 * likely credential.
 */
function checkTemplates(
  { file, root }: Document,
  part: ManifestPart,
  templates: readonly FoundTemplate[],
  problems: ManifestProblem[],
): void {
  for (const { path, template } of templates) {
    const add = (code: string, summary: string, detail: string, within: string): void => {
      problems.push(
        manifestProblem(code, { file, path: [...root, ...path] }, summary, detail, { within }),
      );
    };
    for (const { source, reason } of template.faults) {
      // In a hidden value the malformed placeholder is hidden, too: it may be the password itself.
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

/** Checks that the globs of policies are valid, also in stages that are not chosen. */
function checkProtectedGlobs(document: Document, problems: ManifestProblem[]): void {
  for (const { path, value } of scopesIn(document)) {
    for (const place of [
      ["policy", "protected"],
      ["policy", "passedIn", "except"],
    ]) {
      const globs = valueAt(value, place);
      for (const [at, source] of isArray(globs) ? globs.entries() : []) {
        if (typeof source !== "string" || isTemplate(source)) continue;
        const glob = compileGlob(source);
        if (!("fault" in glob)) continue;
        const origin = { file: document.file, path: [...path, ...place, at] };
        const detail = `\`${source}\`: ${glob.fault}.`;
        problems.push(manifestProblem("bad-glob", origin, "The glob cannot be used", detail));
      }
    }
  }
}
