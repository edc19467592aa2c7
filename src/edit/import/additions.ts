import type { Document } from "../../manifest/document.ts";
import { mergedAt } from "../../manifest/resolve.ts";
import { settingsLayers } from "../../manifest/stages.ts";
import { SECTIONS } from "../../manifest/tables.ts";
import { groupByTarget, layersIn } from "../../manifest/target.ts";
import { addressOf } from "../../model/address.ts";
import { type Json, type JsonObject, isObject, sameJson } from "../../model/json.ts";
import type { FileEdit } from "../manifests.ts";
import type { Draft, TargetDraft } from "./drafts.ts";
import { type LayoutOptions, idOf, inDocument } from "./new-files.ts";
import type { ImportSources, PlannedProject } from "./planned-project.ts";

type AdditionOptions = Pick<LayoutOptions, "stage" | "isForStageAlone">;

/**
 * Puts new resources of declared targets where their neighbours are: test cases into the document
 * that has most of their folder, environments next to environments.
 * @returns the edits, and the drafts that have no neighbours, or notes, which need a file with
 * comments
 */
export function additionsTo(
  { reading, desired: { stage: own } }: ImportSources,
  project: PlannedProject,
  drafts: readonly TargetDraft[],
  options: AdditionOptions,
): { readonly edits: readonly FileEdit[]; readonly rest: readonly TargetDraft[] } {
  const edits: FileEdit[] = [];
  const rest = drafts.flatMap((draft): readonly TargetDraft[] => {
    const { key, target } = draft;
    const documents = reading.documents.filter(({ value }) => value.target === key);
    if (target !== undefined || documents.length === 0) return [draft];
    const placeOf = neighbours(project, key, documents);
    const whole = groupByTarget(reading.documents).find((one) => one.key === key);
    const settings = settingsLayers(reading.project, own);
    const defaults = whole === undefined ? [] : layersIn(whole, own, settings)("testCase").defaults;
    const isDefault = (name: string, value: Json): boolean =>
      DEFAULTED.includes(name) && sameJson(mergedAt(defaults, [name]), value);
    const isLeft = (one: Draft): boolean => {
      const document = one.notes.length === 0 ? placeOf(one) : undefined;
      const section = SECTIONS.find(({ kind }) => kind === one.kind)?.name;
      if (document === undefined || section === undefined) return true;
      const fields = Object.entries(one.fields).filter(([name, value]) => !isDefault(name, value));
      edits.push(...editsOf(one, document, section, Object.fromEntries(fields), key, options));
      return false;
    };
    const environments = draft.environments.filter(isLeft);
    const testCases = draft.testCases.filter(isLeft);
    return environments.length + testCases.length === 0
      ? []
      : [{ ...draft, environments, testCases }];
  });
  return { edits, rest };
}

/** The fields that an import writes into `defaults`. */
const DEFAULTED = ["status", "runStatus"];

function editsOf(
  draft: Draft,
  { file, root }: Document,
  section: string,
  fields: Draft["fields"],
  target: string,
  { stage, isForStageAlone }: AdditionOptions,
): readonly FileEdit[] {
  const only = stage !== undefined && isForStageAlone(target) ? { onlyStages: [stage] } : {};
  const bound = idOf(draft);
  const value: JsonObject = {
    ...(stage === undefined ? bound : {}),
    ...only,
    ...inDocument({ ...draft, fields }),
  };
  const place = [section, draft.key];
  const set = (path: readonly (string | number)[], given: JsonObject): FileEdit => ({
    file,
    edit: { kind: "set", path: [...root, ...path], value: given },
  });
  const isBound = stage !== undefined && Object.keys(bound).length > 0;
  return [set(place, value), ...(isBound ? [set(["stages", stage, ...place], bound)] : [])];
}

/**
 * Returns where a new resource of a target goes; undefined if it has no neighbours, or if each test
 * case has a document of its own.
 */
function neighbours(project: PlannedProject, key: string, documents: readonly Document[]) {
  const matches = project.matched.get(key)?.matches;
  const holding = (section: string) => documents.filter(({ value }) => isObject(value[section]));
  const cases = holding("testCases").map((document) => {
    const { testCases } = document.value;
    const keys = Object.keys(isObject(testCases) ? testCases : {});
    const folders = keys.map(
      (name) => matches?.get(addressOf("testCase", key, name))?.live?.folderId ?? undefined,
    );
    return { document, folders };
  });
  const [only, ...others] = cases;
  if (documents.length === 1) return (): Document | undefined => documents[0];
  const isOneEach = others.length > 0 && cases.every(({ folders }) => folders.length < 2);
  return ({ kind, live }: Draft): Document | undefined => {
    if (kind === "environment") return holding("environments")[0];
    if (isOneEach || only === undefined) return undefined;
    if (others.length === 0) return only.document;
    const alike = ({ folders }: (typeof cases)[number]): number =>
      folders.filter((one) => one === (live.folderId ?? undefined)).length;
    const best = cases.reduce((a, b) => (alike(b) > alike(a) ? b : a));
    return alike(best) > 0 ? best.document : undefined;
  };
}
