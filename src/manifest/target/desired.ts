import { addressOf, compareText, targetAddress } from "../../model/address.ts";
import type { DesiredResource, DesiredTarget } from "../../model/desired.ts";
import type { Policy } from "../../model/settings.ts";
import type { Value } from "../../model/value.ts";
import { mergedAt } from "../merge.ts";
import type { ManifestProblem } from "../problem.ts";
import { resolveValue } from "../resolve-value.ts";
import {
  BATCH_GENERATIONS,
  ENVIRONMENTS,
  type InnerKind,
  type Section,
  TARGET_ROWS,
  TEST_CASES,
} from "../tables/kinds.ts";
import { ON_REMOVE_PART } from "../tables/project.ts";
import type { Filler } from "../template/fill.ts";
import type { TargetDocuments } from "./group.ts";
import { type Origins, layersOf, originsOf, sectionLayers, targetLayers } from "./layers.ts";
import { movesOf } from "./moves.ts";
import { type ResourceParts, ResourceScene, resolveResource } from "./resource.ts";

export interface TargetRequest {
  readonly stage: string;
  readonly filler: Filler;
  /** What holds for a target that does not say it itself. */
  readonly onRemove: Policy["onRemove"];
}

/** What the documents of a target want of one stage; problems are added to the list that is handed in. */
export function resolveTarget(
  target: TargetDocuments,
  request: TargetRequest,
  problems: ManifestProblem[],
): DesiredTarget {
  const origins = originsOf(target.documents, request.stage);
  const parts = targetParts(target.key, origins);
  const inner = <K extends InnerKind>(section: Section<K>): readonly DesiredResource<K>[] =>
    resolveSection(target.key, section, origins, request.filler, problems);
  return {
    ...resolveResource(parts, request.filler, problems),
    onRemove: onRemoveOf(parts, request, problems),
    environments: inner(ENVIRONMENTS),
    testCases: inner(TEST_CASES),
    batchGenerations: inner(BATCH_GENERATIONS),
    moved: movesOf(origins.base),
  };
}

function targetParts(key: string, origins: Origins): ResourceParts<"target"> {
  return {
    kind: "target",
    address: targetAddress(key),
    key,
    layers: targetLayers(origins),
    rows: TARGET_ROWS,
  };
}

function onRemoveOf(
  parts: ResourceParts<"target">,
  { filler, onRemove = "ignore" }: TargetRequest,
  problems: ManifestProblem[],
): DesiredTarget["onRemove"] {
  const declared = mergedAt(parts.layers, ["onRemove"]);
  if (declared === undefined) return onRemove;
  const value: Value = resolveValue(
    ON_REMOVE_PART,
    declared,
    ["onRemove"],
    new ResourceScene(parts, filler, problems),
  );
  return value === "disable" ? "disable" : "ignore";
}

function resolveSection<K extends InnerKind>(
  target: string,
  section: Section<K>,
  origins: Origins,
  filler: Filler,
  problems: ManifestProblem[],
): readonly DesiredResource<K>[] {
  const layers = sectionLayers(origins, section);
  const keys = [...layers.base.keys(), ...[...layers.stage.keys()].filter((key) => !layers.base.has(key))];
  // Made once: what is put together of five parts takes the room of five.
  const above = addressOf(section.kind, target, "");
  return keys.toSorted(compareText).map((key) =>
    resolveResource(
      {
        kind: section.kind,
        address: `${above}${key}`,
        key,
        layers: layersOf(layers, key),
        rows: section.fields,
      },
      filler,
      problems,
    ),
  );
}
