import type { Document } from "../manifest/document.ts";
import { type EnvironmentVariables, Interpolator, LONGEST } from "../manifest/interpolation.ts";
import { escapeTemplate, isTemplate, parseTemplate } from "../manifest/template.ts";
import type { ProjectReading } from "../manifest/load.ts";
import { type ResolveContext, mergedAt, resolveValue } from "../manifest/resolve.ts";
import { settingsLayers, variablesOf } from "../manifest/stages.ts";
import type { Address } from "../model/address.ts";
import {
  type Desired,
  type DesiredResource,
  byAddress,
  originIn,
  originOf,
  resourcesOf,
} from "../model/desired.ts";
import type { Origin, Place } from "../model/diagnostic.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
import { type Json, defined, mapTexts, sameJson } from "../model/json.ts";
import { type Value, isSensitive, isUnknown, reveal } from "../model/value.ts";
import { display } from "../plan/compare.ts";
import { normalise, ordered } from "../plan/normalise.ts";
import { placeText } from "../render/diagnostics.ts";
import { outside } from "../render/redact.ts";
import { type Block, type Line, type Section, type View, faint, strong } from "../render/view.ts";
import { byTarget } from "../render/words.ts";
import { count } from "../model/words.ts";
import { groupBy } from "../model/collections.ts";

type StageDiff = ReturnType<typeof diffStages>;

/**
 * A field that the stages resolve to different values. A side that is absent does not declare it.
 */
export type Difference = StageDiff["differences"][number];

/** One side of a difference, without the value if it must not show. */
type DiffSide = { readonly value?: Json; readonly origin?: Origin };

/**
 * Compares two stages field by field, sorted by address: either the fields that promotion copies,
 * or all fields.
 */
export function diffStages(
  from: StageView,
  to: StageView,
  choice: "promoted" | "all",
  inScope: (address: Address) => boolean,
) {
  const isChosen = ({ promoted }: Field): boolean => choice === "all" || promoted === true;
  const isOwn = ({ address, kind }: DesiredResource) =>
    inScope(address) && fieldsOf(kind).some(isChosen);
  const resourcesIn = ({ targets }: Desired) =>
    byAddress(targets.flatMap(resourcesOf).filter(isOwn));
  const left = resourcesIn(from.desired);
  const right = resourcesIn(to.desired);
  const differences = [...left.values()].flatMap((one) => {
    const { address } = one;
    const other = right.get(address);
    if (other === undefined) return [];
    const isSet = ({ name }: Field) =>
      one.fields[name] !== undefined || other.fields[name] !== undefined;
    const own = fieldsOf(one.kind).filter((field) => isSet(field) && isChosen(field));
    return own.flatMap((field) => {
      const { path } = field;
      const written = mergedAt(one.layers, path);
      const before = from.meaningOf(field, written);
      const after = to.meaningOf(field, mergedAt(other.layers, path));
      if (sameStageValue(field, before, after)) return [];
      const isHidden = [before, after].some(
        (side) => side !== undefined && isSensitive(side.value),
      );
      const sensitive = isHidden ? (true as const) : undefined;
      const sideOf = ({ layers }: DesiredResource, side: typeof before): DiffSide | undefined => {
        const value = isHidden || side === undefined ? undefined : ordered(display(side.value));
        return side && defined({ value, origin: originIn(layers, path) });
      };
      const sides = { from: sideOf(one, before), to: sideOf(other, after) };
      return [
        { address, field, path, ...defined({ sensitive }), ...sides, written, before, after },
      ];
    });
  });
  const lone = (own: typeof left, others: typeof left) =>
    [...own.values()]
      .filter(({ address }) => !others.has(address))
      .map((resource) => ({
        address: resource.address,
        ...defined({ origin: originOf(resource) }),
      }));
  return {
    from: from.stage,
    to: to.stage,
    differences,
    onlyFrom: lone(left, right),
    onlyTo: lone(right, left),
  };
}

/** A written value, resolved in one stage. */
export interface StageValue {
  readonly value: Value;
  /**
   * The value with everything filled in except secrets, which are named: used to compare values if
   * secrets are missing.
   */
  readonly spelt: Json;
}

/**
 * Whether a field means the same in two stages. Both use the same environment, so secrets with the
 * same name are equal.
 */
export function sameStageValue(
  field: Field,
  a: StageValue | undefined,
  b: StageValue | undefined,
): boolean {
  if (a === undefined || b === undefined) return a === b;
  const isSpelt = isUnknown(a.value) || isUnknown(b.value);
  const left = normalise(field.compare, isSpelt ? a.spelt : reveal(a.value));
  return sameJson(left, normalise(field.compare, isSpelt ? b.spelt : reveal(b.value)));
}

/** A project in one stage, in which secrets may be missing: for commands that compare stages. */
export class StageView {
  readonly stage: string;
  readonly desired: Desired;
  readonly #context: ResolveContext;

  constructor(
    desired: Desired,
    project: Document,
    { textFiles: files }: Pick<ProjectReading, "textFiles">,
    env: EnvironmentVariables,
  ) {
    const { stage } = desired;
    const vars = variablesOf(settingsLayers(project, stage));
    this.stage = stage;
    this.desired = desired;
    const interpolator = new Interpolator({ stage, env, files, vars, allowMissingSecrets: true });
    // The manifests were checked before, so nothing is reported here; a text that does not fit is
    // unknown.
    this.#context = {
      interpolator,
      originOf: (path) => ({ file: "", path }),
      report: () => undefined,
    };
  }

  /** Returns what a value would mean in this stage, if it were written for the field. */
  meaningOf(field: Field, written: Json | undefined): StageValue | undefined {
    if (written === undefined) return undefined;
    const value = resolveValue(field, written, field.path, this.#context);
    return { value, spelt: mapTexts(written, this.#spell) };
  }

  /** By name: variables that hide something, with their variables spelt. */
  readonly #spelt = new Map<string, string>();

  /**
   * Spells each variable once, because variables that double each other have exponentially many
   * copies. One that is in a circle, or too long, stays as written; both are reported elsewhere.
   */
  readonly #spell = (text: string): string => {
    if (!isTemplate(text)) return text;
    const pieces = parseTemplate(text).parts.map((part) => {
      if (part.kind === "text") return escapeTemplate(part.text);
      const { value, sensitive, unknown } = this.#context.interpolator.fill(part.source);
      if (!sensitive && !unknown) return escapeTemplate(String(value));
      if (part.kind !== "var") return part.source;
      const known = this.#spelt.get(part.name);
      if (known !== undefined) return known;
      this.#spelt.set(part.name, part.source);
      const inner = this.#context.interpolator.variable(part.name);
      const spelt = inner === undefined ? part.source : this.#spell(inner);
      this.#spelt.set(part.name, spelt);
      return spelt;
    });
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    return length > LONGEST ? text : pieces.join("");
  };
}

export type PlaceOf = (origin: Origin) => Place;

export function stageDiffView(diff: StageDiff, placeOf: PlaceOf, all: boolean): View {
  const { from, to, differences } = diff;
  const place = (origin: Origin | undefined): Partial<Place> =>
    origin === undefined ? {} : placeOf(origin);
  const placed = (side: DiffSide | undefined) =>
    side && { value: outside(side.value), ...place(side.origin) };
  const [onlyFrom, onlyTo] = [diff.onlyFrom, diff.onlyTo].map((resources) =>
    resources.map(({ address, origin }) => ({ address, ...place(origin) })),
  );
  const lone = (stage: string, resources: typeof onlyFrom = []): Section =>
    resources.length === 0
      ? []
      : [
          [strong(`Only in ${stage}`)],
          ...resources.map((one): Line => [`  ${one.address}  `, faint(placeText(one))]),
        ];
  return {
    json: {
      formatVersion: "1.0",
      from,
      to,
      summary: {
        different: differences.length,
        onlyFrom: diff.onlyFrom.length,
        onlyTo: diff.onlyTo.length,
      },
      differences: differences.map(({ address, path, sensitive, ...sides }) => ({
        address,
        path,
        sensitive,
        from: placed(sides.from),
        to: placed(sides.to),
      })),
      onlyFrom,
      onlyTo,
    },
    text: [
      [[strong(`Stage ${from} → ${to}`)]],
      ...fieldSections(differences, (one) => differenceBlocks(one, diff, placeOf)),
      lone(from, onlyFrom),
      lone(to, onlyTo),
      [summaryLine(diff, all)],
    ],
  };
}

/**
 * Returns a section for each target, with its resources and the blocks for each of their fields.
 */
export function fieldSections<T extends { readonly address: Address }>(
  fields: readonly T[],
  blocksOf: (one: T) => readonly Block[],
): readonly Section[] {
  return [...byTarget(fields)].map(([target, own]) => [
    [strong(target)],
    ...[...groupBy(own, ({ address }) => address)].flatMap(([address, some]): Block[] => [
      ["  ", { style: "update", text: "~" }, " ", strong(address)],
      { indent: 6, blocks: some.flatMap(blocksOf) },
    ]),
  ]);
}

function differenceBlocks(
  { path, sensitive, from, to }: Difference,
  stages: StageDiff,
  placeOf: PlaceOf,
) {
  const width = Math.max(stages.from.length, stages.to.length);
  const side = (stage: string, one: DiffSide | undefined): Line => {
    const place = one?.origin === undefined ? "" : placeText(placeOf(one.origin));
    return ["  ", faint(`${stage.padEnd(width)}  ${one === undefined ? "not declared" : place}`)];
  };
  const field = { path, ...defined({ sensitive, before: from?.value, after: to?.value }) };
  return [{ field }, side(stages.from, from), side(stages.to, to)];
}

function summaryLine({ differences, onlyFrom, onlyTo }: StageDiff, all: boolean): Line {
  const alone = onlyFrom.length + onlyTo.length;
  if (differences.length + alone === 0)
    return all
      ? "No difference."
      : "No difference in what promotion carries; `--all` compares every field.";
  const parts = [
    `${count(differences.length, "field")} ${differences.length === 1 ? "differs" : "differ"}`,
    ...(alone === 0 ? [] : [`${count(alone, "resource")} only in one stage`]),
  ];
  return [strong(parts.join(", "))];
}
