import type { Read } from "../look/look.ts";
import { compareText, targetAddress } from "../model/address.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { LiveElement, LiveEnvironment, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { State } from "../model/state.ts";
import type { Snapshot, SnapshotProblem } from "./read.ts";

/**
 * A snapshot as the data of the local service. What the service never shows is not there: credentials, headers and
 * private locations are those of a resource just made.
 */
export function seedOf(snapshot: Snapshot): Read<JsonObject, SnapshotProblem> {
  const { targets, states } = snapshot.head;
  const testCases: JsonObject[] = [];
  const read = snapshot.eachTestCase((live, targetId) => void testCases.push(testCaseSeed(live, targetId)));
  if (!read.ok) return read;
  return {
    ok: true,
    value: {
      testTargets: targets.map(({ id, app }) => ({ id, app })),
      environments: targets.flatMap(environmentSeeds),
      folders: states.flatMap((state) => folderSeeds(state, targets)),
      testCases,
    },
  };
}

function environmentSeeds({ id, environments }: LiveTarget): readonly JsonObject[] {
  return environments.map((environment) => environmentSeed(environment, id));
}

function environmentSeed({ id, type, discoveryUrl }: LiveEnvironment, testTargetId: string): JsonObject {
  return { id, testTargetId, type: type ?? "ADDITIONAL", ...shown({ discoveryUrl }) };
}

/** Folders whose name somebody has learnt; others are ids without a name, as they are to whoever only reads. */
function folderSeeds(state: State, targets: readonly LiveTarget[]): readonly JsonObject[] {
  const testTargetId = state.bindings.get(targetAddress(state.target))?.id;
  if (!targets.some(({ id }) => id === testTargetId) || testTargetId === undefined) return [];
  return [...state.folders]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, id]) => ({ id, testTargetId, name }));
}

function testCaseSeed(
  { elements, discovery, description, tags, ...rest }: LiveTestCase,
  testTargetId: string,
): JsonObject {
  return {
    ...shown({ ...rest }),
    testTargetId,
    description: description ?? "",
    tags: tags ?? [],
    elements: (elements ?? []).map(elementSeed),
    ...(discovery === undefined
      ? {}
      : { discovery: { ...shown({ ...discovery }), status: discovery.status ?? "FINISHED" } }),
  };
}

/** In the described form; what a service shows beyond that means nothing to the local one. */
function elementSeed({ id, interaction, assertion, selectors, ignoreFailure }: LiveElement): JsonObject {
  return {
    ...shown({ id, ignoreFailure }),
    interaction: interaction && part("action", interaction.action, interaction.calledWith),
    assertion: assertion && part("expectation", assertion.expectation, assertion.calledWith),
    selectors: selectors.map(({ selectorType, selector, options }) => ({
      selectorType: selectorType ?? "TEXT",
      selector: selector ?? "",
      ...shown({ options }),
    })),
  };
}

function part(name: string, value: string | undefined, calledWith: Json): JsonObject | null {
  if (value === undefined) return null;
  return { [name]: value, ...(typeof calledWith === "string" ? { calledWith } : {}) };
}

function shown(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  const known: Record<string, Json> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) known[name] = value;
  return known;
}
