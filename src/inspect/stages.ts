import type { Document } from "../manifest/document.ts";
import {
  type EnvironmentVariables,
  Interpolator,
  type InterpolationSources,
  escapeTemplate,
  isTemplate,
  parseTemplate,
} from "../manifest/interpolation.ts";
import type { ProjectReading } from "../manifest/load.ts";
import { mergedAt, resolveValue } from "../manifest/resolve.ts";
import { settingsLayers, variablesOf } from "../manifest/settings.ts";
import { type Address, compareAddresses } from "../model/address.ts";
import { type Desired, type DesiredResource, originIn, originOf, resourcesOf } from "../model/desired.ts";
import type { Origin, Place } from "../model/diagnostic.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
import { type Json, type Path, isArray, isObject, sameJson } from "../model/json.ts";
import { type Value, isSensitive, isUnknown, reveal } from "../model/value.ts";
import { display } from "../plan/compare.ts";
import { normalise, ordered } from "../plan/input.ts";
import { type Block, type Line, Outside, type Section, type View, type ViewJson } from "../render/view.ts";
import { count, groupBy, placeOf as partsOf } from "../render/words.ts";

/** What sets two stages of a project apart: plain data, without any secret. */
interface StageDiff {
  readonly from: string;
  readonly to: string;
  /** Sorted by address, fields in the order of the table. */
  readonly differences: readonly Difference[];
  readonly onlyFrom: readonly Lone[];
  readonly onlyTo: readonly Lone[];
}

/** A field that the stages resolve to different values. A side without value does not declare it. */
export interface Difference {
  readonly address: Address;
  readonly path: Path;
  readonly sensitive?: true;
  readonly from: DiffSide | undefined;
  readonly to: DiffSide | undefined;
}

interface DiffSide {
  /** Absent where it must not show. */
  readonly value?: Json;
  readonly origin: Origin | undefined;
}

/** A resource that only one of the stages declares. */
interface Lone {
  readonly address: Address;
  readonly origin: Origin | undefined;
}

/** The fields that promotion carries, or all. */
export type FieldChoice = "promoted" | "all";

/** Compares two stages field by field. Resources of which no chosen field is known are left out. */
export function diffStages(
  from: StageView,
  to: StageView,
  choice: FieldChoice,
  inScope: (address: Address) => boolean,
): StageDiff {
  const left = resourcesIn(from.desired, choice, inScope);
  const right = resourcesIn(to.desired, choice, inScope);
  const differences = [...left].flatMap(([address, resource]) => {
    const other = right.get(address);
    if (other === undefined) return [];
    return chosenFields(resource, choice).flatMap((field) => compare(field, resource, other, from, to) ?? []);
  });
  return {
    from: from.stage,
    to: to.stage,
    differences,
    onlyFrom: lone(left, right),
    onlyTo: lone(right, left),
  };
}

export function chosenFields({ kind }: DesiredResource, choice: FieldChoice): readonly Field[] {
  return fieldsOf(kind).filter(({ promoted }) => choice === "all" || promoted === true);
}

function resourcesIn(
  { targets }: Desired,
  choice: FieldChoice,
  inScope: (address: Address) => boolean,
): ReadonlyMap<Address, DesiredResource> {
  const found = targets
    .flatMap(resourcesOf)
    .filter((resource) => inScope(resource.address) && chosenFields(resource, choice).length > 0);
  return new Map(
    found
      .toSorted((a, b) => compareAddresses(a.address, b.address))
      .map((resource) => [resource.address, resource]),
  );
}

function lone(
  own: ReadonlyMap<Address, DesiredResource>,
  others: ReadonlyMap<Address, DesiredResource>,
): readonly Lone[] {
  return [...own.values()]
    .filter(({ address }) => !others.has(address))
    .map((resource) => ({ address: resource.address, origin: originOf(resource) }));
}

function compare(
  field: Field,
  left: DesiredResource,
  right: DesiredResource,
  from: StageView,
  to: StageView,
): Difference | undefined {
  const before = from.meaningOf(field, mergedAt(left.layers, field.path));
  const after = to.meaningOf(field, mergedAt(right.layers, field.path));
  if (sameStageValue(field, before, after)) return undefined;
  const sensitive = [before, after].some((side) => side !== undefined && isSensitive(side.value));
  const sideOf = (resource: DesiredResource, side: typeof before): DiffSide | undefined =>
    side && {
      ...(sensitive ? {} : { value: ordered(display(side.value)) }),
      origin: originIn(resource.layers, field.path),
    };
  return {
    address: left.address,
    path: field.path,
    ...(sensitive ? { sensitive } : {}),
    from: sideOf(left, before),
    to: sideOf(right, after),
  };
}

/** What a written value comes to in one stage. */
export interface StageValue {
  readonly value: Value;
  /** Filled in but for secrets, which stand by name: for comparing where they are unavailable. */
  readonly spelt: Json;
}

/**
 * Whether two stages mean the same by a field. Secrets that are unavailable are the same if they have the same name:
 * both stages read the same environment.
 */
export function sameStageValue(field: Field, a: StageValue | undefined, b: StageValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const same = (one: Json, other: Json): boolean =>
    sameJson(normalise(field.compare, one), normalise(field.compare, other));
  if (isUnknown(a.value) || isUnknown(b.value)) return same(a.spelt, b.spelt);
  return same(reveal(a.value), reveal(b.value));
}

/** A written value with all placeholders filled in that are no secrets. */
function spell(written: Json, around: InterpolationSources, within: readonly string[] = []): Json {
  if (typeof written === "string") return spellText(written, around, within);
  if (isArray(written)) return written.map((item) => spell(item, around, within));
  if (!isObject(written)) return written;
  return Object.fromEntries(
    Object.entries(written).map(([key, value]) => [key, spell(value, around, within)]),
  );
}

/** @param within variables that are being spelt: those in a circle are told of elsewhere, and stay as written */
function spellText(text: string, around: InterpolationSources, within: readonly string[]): string {
  if (!isTemplate(text)) return text;
  const pieces = parseTemplate(text).parts.map((part) => {
    switch (part.kind) {
      case "text":
        return escapeTemplate(part.text);
      case "stage":
        return escapeTemplate(around.stage);
      case "secret":
        return part.source;
      case "env":
        return escapeTemplate(around.env[part.name] || part.fallback || "");
      case "file": {
        const file = around.files.get(part.path);
        return file?.ok === true ? escapeTemplate(file.text) : part.source;
      }
      case "var": {
        const value = around.vars.get(part.name)?.value;
        if (value === undefined || within.includes(part.name)) return part.source;
        if (typeof value !== "string") return String(value);
        return isTemplate(value) ? spellText(value, around, [...within, part.name]) : value;
      }
    }
  });
  return pieces.join("");
}

/** `file:line:column`, or nothing. */
export function placeText(origin: Origin | undefined, placeOf: PlaceOf): string {
  if (origin === undefined) return "";
  const { file, line, column } = placeOf(origin);
  return `${file}:${line}:${column}`;
}

/** A project in one of its stages, where secrets may be missing: for commands that set stages side by side. */
export class StageView {
  readonly stage: string;
  readonly desired: Desired;
  readonly #surroundings: InterpolationSources;
  readonly #interpolator: Interpolator;

  constructor(
    desired: Desired,
    project: Document,
    { textFiles }: Pick<ProjectReading, "textFiles">,
    env: EnvironmentVariables,
  ) {
    const vars = variablesOf(settingsLayers(project, desired.stage));
    this.stage = desired.stage;
    this.desired = desired;
    this.#surroundings = { stage: this.stage, env, files: textFiles, vars, allowMissingSecrets: true };
    this.#interpolator = new Interpolator(this.#surroundings);
  }

  /** What a value would mean in this stage, if it were written for the field. */
  meaningOf(field: Field, written: Json | undefined): StageValue | undefined {
    if (written === undefined) return undefined;
    const value = resolveValue(field, written, field.path, {
      interpolator: this.#interpolator,
      originOf: (path) => ({ file: "", path }),
      // The manifests were checked as they stand; a text that does not fit is unknown, and equal to nothing else.
      report: () => undefined,
    });
    return { value, spelt: spell(written, this.#surroundings) };
  }

  /** Texts met so far that must not show. */
  get secrets(): ReadonlySet<string> {
    return this.#interpolator.secrets;
  }
}

export type PlaceOf = (origin: Origin) => Place;

/** Two stages side by side: for people a tree per target, each field with both places. */
export function stageDiffView(diff: StageDiff, placeOf: PlaceOf, all: boolean): View {
  const { from, to, differences, onlyFrom, onlyTo } = diff;
  const lone = (stage: string, resources: readonly Lone[]): Section =>
    resources.length === 0
      ? []
      : [
          [{ style: "strong", text: `Only in ${stage}` }],
          ...resources.map(({ address, origin }): Line => [
            `  ${address}  `,
            { style: "faint", text: placeText(origin, placeOf) },
          ]),
        ];
  return {
    json: {
      formatVersion: "1.0",
      from,
      to,
      summary: { different: differences.length, onlyFrom: onlyFrom.length, onlyTo: onlyTo.length },
      differences: differences.map(({ address, path, sensitive, ...sides }) => ({
        address,
        path,
        sensitive,
        from: sides.from && sideJson(sides.from, placeOf),
        to: sides.to && sideJson(sides.to, placeOf),
      })),
      onlyFrom: onlyFrom.map(({ address, origin }) => ({ address, ...(origin && placeOf(origin)) })),
      onlyTo: onlyTo.map(({ address, origin }) => ({ address, ...(origin && placeOf(origin)) })),
    },
    text: [
      [[{ style: "strong", text: `Stage ${from} → ${to}` }]],
      ...fieldSections(differences, (one) => differenceBlocks(one, diff, placeOf)),
      lone(from, onlyFrom),
      lone(to, onlyTo),
      [summaryLine(diff, all)],
    ],
  };
}

/** A section for each target, with its resources and what there is to say of each of their fields. */
export function fieldSections<T extends { readonly address: Address }>(
  fields: readonly T[],
  blocksOf: (one: T) => readonly Block[],
): readonly Section[] {
  return [...groupBy(fields, ({ address }) => partsOf(address).target)].map(([target, own]) => [
    [{ style: "strong", text: target }],
    ...[...groupBy(own, ({ address }) => address)].flatMap(([address, some]): Block[] => [
      ["  ", { style: "update", text: "~" }, " ", { style: "strong", text: address }],
      { indent: 6, blocks: some.flatMap(blocksOf) },
    ]),
  ]);
}

function differenceBlocks(
  { path, sensitive, from, to }: Difference,
  stages: StageDiff,
  placeOf: PlaceOf,
): readonly Block[] {
  const width = Math.max(stages.from.length, stages.to.length);
  const side = (stage: string, one: DiffSide | undefined): Line => {
    const where = one === undefined ? "not declared" : placeText(one.origin, placeOf);
    return ["  ", { style: "faint", text: `${stage.padEnd(width)}  ${where}` }];
  };
  const field = {
    path,
    ...(sensitive ? { sensitive } : {}),
    ...(from?.value === undefined ? {} : { before: from.value }),
    ...(to?.value === undefined ? {} : { after: to.value }),
  };
  return [{ field }, side(stages.from, from), side(stages.to, to)];
}

function sideJson({ value, origin }: DiffSide, placeOf: PlaceOf): ViewJson {
  return { value: value === undefined ? undefined : new Outside(value), ...(origin && placeOf(origin)) };
}

function summaryLine({ differences, onlyFrom, onlyTo }: StageDiff, all: boolean): Line {
  const alone = onlyFrom.length + onlyTo.length;
  if (differences.length + alone === 0)
    return all ? "No difference." : "No difference in what promotion carries; `--all` compares every field.";
  const parts = [
    `${count(differences.length, "field")} ${differences.length === 1 ? "differs" : "differ"}`,
    ...(alone === 0 ? [] : [`${count(alone, "resource")} only in one stage`]),
  ];
  return [{ style: "strong", text: parts.join(", ") }];
}
