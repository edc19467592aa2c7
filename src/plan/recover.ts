import type { Address } from "../model/address.ts";
import { parseAddress } from "../model/address.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Live, LiveTarget } from "../model/live.ts";
import type { Intent, State, StateEvent } from "../model/state.ts";
import { DELETED } from "../fields/test-case.ts";
import { normalise } from "./compare.ts";
import type { Fingerprinter } from "./inputs.ts";

/**
 * What became of creations whose outcome is not known (design contract, section 5): an intent is written before each
 * POST and settled after it; what is still open was cut off in between. The service is asked by looking: what bears
 * the intended name and was not there before is what the POST made; where nothing does, it made nothing.
 *
 * The obvious way, to match by name as for any other resource, fails where the name was there before or the manifest
 * has changed since; so an intent keeps the ids that it must not be taken for, and digests of its names.
 */
export interface Recovery {
  readonly events: readonly StateEvent[];
  readonly diagnostics: readonly Diagnostic[];
}

export function recover(state: State, live: Live, fingerprints: Fingerprinter): Recovery {
  const events: StateEvent[] = [];
  const diagnostics: Diagnostic[] = [];
  const taken = new Set([...state.bindings.values()].map((binding) => binding.id));
  for (const [address, intent] of state.intents) {
    const found = lookUp(address, intent, { state, live, fingerprints, targetId: targetIdOf(state, events) });
    if (found === "unanswerable") {
      const record = {
        status: "uncertain",
        ...(intent.content === undefined ? {} : { content: intent.content }),
      } as const;
      events.push({ type: "batch", address, record }, { type: "settled", address });
      continue;
    }
    const candidates = found.filter((id) => !taken.has(id));
    const [only] = candidates;
    if (candidates.length > 1) diagnostics.push(manyMade(address, intent, candidates));
    else if (only === undefined) events.push({ type: "settled", address });
    else {
      taken.add(only);
      events.push({ type: "bound", address, id: only, fields: {} }, { type: "settled", address });
    }
  }
  return { events, diagnostics };
}

interface Looking {
  readonly state: State;
  readonly live: Live;
  readonly fingerprints: Fingerprinter;
  readonly targetId: string | undefined;
}

/** A target that was itself only just recovered is known from the events. Maps keep order: targets come first. */
function targetIdOf(state: State, events: readonly StateEvent[]): string | undefined {
  const address: Address = `target.${state.target}`;
  for (const event of events) if (event.type === "bound" && event.address === address) return event.id;
  return state.bindings.get(address)?.id;
}

/** Ids of what may be what the intent made; batch generations cannot be looked up. */
function lookUp(address: Address, intent: Intent, looking: Looking): readonly string[] | "unanswerable" {
  const target = looking.live.targets.find((candidate) => candidate.id === looking.targetId);
  const isNew = (id: string): boolean => !intent.existing.includes(id);
  switch (parseAddress(address)?.kind) {
    case "batchGeneration":
      return "unanswerable";
    case "target":
      return targetsMade(intent, looking).filter(isNew);
    case "environment":
      return environmentsMade(intent, looking, target).filter(isNew);
    case "testCase":
    case undefined:
      return testCasesMade(intent, looking).filter(isNew);
  }
}

function targetsMade(intent: Intent, { live, fingerprints }: Looking): readonly string[] {
  return live.targets
    .filter((target) => nameDigest(fingerprints, target.app) === intent.name)
    .map((target) => target.id);
}

/** Several may have been under way at once, so the URL must tell which is which. */
function environmentsMade(
  intent: Intent,
  { fingerprints }: Looking,
  target: LiveTarget | undefined,
): readonly string[] {
  return (target?.environments ?? [])
    .filter((environment) => environment.type !== "DEFAULT")
    .filter((environment) => urlDigest(fingerprints, environment.discoveryUrl) === intent.name)
    .map((environment) => environment.id);
}

function testCasesMade(intent: Intent, { live, fingerprints, targetId }: Looking): readonly string[] {
  const cases = (live.testCases.get(targetId ?? "") ?? []).filter((testCase) => testCase.status !== DELETED);
  const bears = (name: string | null | undefined, digest: string | undefined): boolean =>
    typeof name === "string" && digest !== undefined && nameDigest(fingerprints, name) === digest;
  const byExternalId = cases.filter((testCase) => bears(testCase.externalId, intent.externalId));
  // As in matching: a case with an external id of its own is another one, however alike the names.
  const byName = cases.filter(
    (testCase) => bears(testCase.description, intent.name) && (testCase.externalId ?? null) === null,
  );
  return (byExternalId.length > 0 ? byExternalId : byName).map((testCase) => testCase.id);
}

/** The digest under which an intent keeps a name, so that the file alone does not tell it. */
export function nameDigest(fingerprints: Fingerprinter, name: string): string {
  return fingerprints.of("name", name);
}

/** The same for an environment's URL, in the form that counts as equal. */
export function urlDigest(fingerprints: Fingerprinter, url: string | undefined): string {
  return fingerprints.of("url", normalise("url", url ?? ""));
}

function manyMade(address: Address, intent: Intent, ids: readonly string[]): Diagnostic {
  return {
    severity: "error",
    code: "creation-unclear",
    address,
    summary: `${ids.length} live resources may be what an interrupted creation made`,
    detail: `A creation was cut off at ${intent.at}, and these have appeared since:\n${ids.map((id) => `  ${id}`).join("\n")}\nChoose the one that is meant:\ntasc state bind ${address} ID`,
  };
}
