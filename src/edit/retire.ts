import { type Document, scopesIn } from "../manifest/document.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import { type ProjectReading, readProject } from "../manifest/load.ts";
import { SECTIONS } from "../manifest/tables.ts";
import { splitDocuments } from "../manifest/yaml/text.ts";
import { type Address, KINDS, addressOf, targetAddress } from "../model/address.ts";
import { groupBy } from "../model/collections.ts";
import { invalid } from "../model/error.ts";
import {
  type Json,
  type JsonObject,
  type Path,
  isArray,
  isObject,
  valueAt,
} from "../model/json.ts";
import { list } from "../model/words.ts";
import { type NewText, editTexts, withTexts } from "./edit-files.ts";
import { type FileEdit, Manifests, changedFields } from "./manifests.ts";

/** What becomes of the manifests when a stage is taken out of them. */
export interface Retirement {
  /** Files with their new text. */
  readonly texts: readonly (NewText & { readonly before: string })[];
  /** Files in which nothing would be left. */
  readonly emptied: readonly string[];
  /** Resources that only this stage had. */
  readonly gone: readonly Address[];
}

type Sources = ProjectReading & { readonly project: Document };

/**
 * Takes a stage out of `tasc.yaml` and the target documents. What only this stage had goes; other
 * stages keep what they have.
 * @throws TascError if it is the only stage, another one depends on it, or a text cannot be edited
 */
export async function retire(
  sources: Sources,
  stage: string,
  stages: readonly string[],
  folder: ProjectFolder,
): Promise<Retirement> {
  const { project, documents } = sources;
  const others = stages.filter((one) => one !== stage);
  if (others.length === 0)
    throw invalid(
      "only-stage",
      `${stage} is the only stage`,
      "Without it, nothing would be left of the project. To stop managing an application, name its target under `removed:` in tasc.yaml.",
    );
  refuseDependent(project, stage);
  const gone = onlyIn(new Manifests(sources), stage, others);
  const isGone = new Set(gone);
  const byTarget = groupBy(documents, ({ value }) => targetIn(value));
  const dropped = documents.filter((document) => {
    const { target } = document.value;
    if (typeof target !== "string") return false;
    const own = byTarget.get(target) ?? [];
    return (
      isGone.has(targetAddress(target)) || (own.length > 1 && isEmptied(document, stage, isGone))
    );
  });
  const kept = documents.filter((document) => !dropped.includes(document));
  const edits = [
    ...projectEdits(project, stage),
    ...kept.flatMap((one) => editsIn(one, stage, isGone)),
  ];
  const { texts, emptied } = withoutDocuments(
    documents,
    dropped,
    await edited([project, ...documents], edits),
  );
  await prove(sources, folder, { texts, emptied, gone }, others);
  return { texts, emptied, gone };
}

/** Refuses to take away the stage in which test cases must have passed: the gate would be open. */
function refuseDependent(project: Document, stage: string): void {
  const places = scopesIn(project).flatMap(({ path, value }) =>
    path[1] !== stage && valueAt(value, ["policy", "passedIn", "stage"]) === stage
      ? [[...path, "policy", "passedIn"].join(".")]
      : [],
  );
  if (places.length === 0) return;
  throw invalid(
    "stage-in-use",
    `Test cases must have passed in ${stage} first`,
    `${list(places.map((place) => `\`${place}\``))} of tasc.yaml names it. Name another stage there, or remove the rule, and retire the stage then.`,
  );
}

/** Returns the addresses that exist in a stage and in no other. */
function onlyIn(manifests: Manifests, stage: string, others: readonly string[]) {
  return manifests.targets.flatMap((target) =>
    manifests
      .addressesOf(target, ...KINDS)
      .filter(
        (address) =>
          manifests.exists(stage, address) &&
          !others.some((other) => manifests.exists(other, address)),
      ),
  );
}

function projectEdits({ file, value }: Document, stage: string): readonly FileEdit[] {
  return [
    deletion(file, ["stages", stage]),
    ...(value.defaultStage === stage ? [deletion(file, ["defaultStage"])] : []),
  ];
}

function deletion(file: string, path: Path): FileEdit {
  return { file, edit: { kind: "delete", path } };
}

function targetIn({ target }: JsonObject): string {
  return typeof target === "string" ? target : "";
}

/** Returns the edits of a document that stays. */
function editsIn(
  { file, root, value }: Document,
  stage: string,
  gone: ReadonlySet<Address>,
): readonly FileEdit[] {
  const target = targetIn(value);
  const own = isObject(value.stages) && value.stages[stage] !== undefined;
  const withoutStage = (holder: Json | undefined, path: Path): readonly FileEdit[] => {
    const only = isObject(holder) ? holder.onlyStages : undefined;
    if (!isArray(only) || !only.includes(stage)) return [];
    const left = only.filter((one) => one !== stage);
    return [{ file, edit: { kind: "set", path: [...path, "onlyStages"], value: left } }];
  };
  const others = scopesIn({ root, value }).filter(
    ({ path }) => path.at(-1) !== stage || path === root,
  );
  const inside = others.flatMap(({ path, value: layer }) => [
    ...withoutStage(layer, path),
    ...SECTIONS.flatMap(({ kind, name }) => {
      const section = layer[name];
      return Object.entries(isObject(section) ? section : {}).flatMap(([key, resource]) => {
        const place = [...path, name, key];
        const address = addressOf(kind, target, key);
        return gone.has(address) ? [deletion(file, place)] : withoutStage(resource, place);
      });
    }),
  ]);
  return [...(own ? [deletion(file, [...root, "stages", stage])] : []), ...inside];
}

/** Whether nothing but the target's name is left of a document. */
function isEmptied({ value }: Document, stage: string, gone: ReadonlySet<Address>): boolean {
  return Object.entries(value).every(([name, part]) => {
    if (name === "target") return true;
    if (!isObject(part)) return false;
    if (name === "stages") return Object.keys(part).every((one) => one === stage);
    const kind = SECTIONS.find((section) => section.name === name)?.kind;
    return (
      kind !== undefined &&
      Object.keys(part).every((key) => gone.has(addressOf(kind, targetIn(value), key)))
    );
  });
}

/** @throws TascError if a text cannot be edited */
async function edited(documents: readonly Document[], edits: readonly FileEdit[]) {
  const texts = await editTexts(documents, edits);
  if ("reason" in texts)
    throw invalid(
      "not-editable",
      `${texts.file} cannot be edited`,
      `${texts.reason}. Nothing was written.`,
    );
  return texts;
}

/** Removes whole documents from the texts of their files, or the file if no other is in it. */
function withoutDocuments(
  documents: readonly Document[],
  dropped: readonly Document[],
  texts: readonly (NewText & { readonly before: string })[],
): Pick<Retirement, "texts" | "emptied"> {
  const known = new Map(texts.map((text) => [text.file, text]));
  const emptied: string[] = [];
  for (const [file, own] of groupBy(dropped, (one) => one.file)) {
    const all = documents.filter((one) => one.file === file);
    const [first] = all;
    if (first === undefined) continue;
    if (all.length === own.length) {
      emptied.push(file);
      known.delete(file);
      continue;
    }
    const { bom, text: before } = first;
    const text = known.get(file)?.after ?? before;
    const numbers = new Set(own.map(({ root: [number = 0] }) => number));
    const spans = splitDocuments(text).filter((_, number) => !numbers.has(number));
    const after = spans.map(({ start, end }) => text.slice(start, end)).join("");
    known.set(file, { file, bom, before, after });
  }
  return { texts: [...known.values()], emptied };
}

/** Reads the new manifests: other stages must declare what they did. @throws TascError if not */
async function prove(
  sources: Sources,
  folder: ProjectFolder,
  { texts, emptied }: Retirement,
  others: readonly string[],
): Promise<void> {
  const removed = emptied.map((file) => ({ file, after: undefined }));
  const reading = await readProject(withTexts(folder, [...texts, ...removed]));
  const { project, documents, problems } = reading;
  const broken = problems.find(
    ({ severity, code }) => severity === "error" && code !== "no-manifests",
  );
  const other = project && changedFields(sources, { project, documents }, others).find(() => true);
  const why =
    broken?.summary ??
    (other && `${other.address} would change in stage ${other.stage}`) ??
    (project === undefined ? "tasc.yaml could not be read" : undefined);
  if (why !== undefined)
    throw invalid("not-editable", "The stage cannot be taken out", `${why}. Nothing was written.`);
}
