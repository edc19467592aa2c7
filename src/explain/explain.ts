import { BATCH_GENERATION_FIELDS } from "../fields/batch-generation.ts";
import { ENVIRONMENT_FIELDS } from "../fields/environment.ts";
import type { Field } from "../fields/field.ts";
import { TARGET_FIELDS } from "../fields/target.ts";
import { TEST_CASE_FIELDS } from "../fields/test-case.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Change } from "../model/plan.ts";
import type { State } from "../model/state.ts";
import type { Fingerprinter } from "../plan/inputs.ts";
import type { Planned } from "../plan/plan.ts";
import { targetOf } from "../plan/scope.ts";
import { callJson } from "../render/json.ts";
import { count } from "../render/words.ts";
import type { ExplainedField, Explanation } from "./explanation.ts";
import { type Ground, explainField } from "./fields.ts";
import { identityOf, identityOffline, liveEnvironmentOf, liveTargetOf, liveTestCaseOf } from "./identity.ts";
import type { Surroundings } from "./placeholders.ts";

export interface ExplainRequest {
  readonly resource: DesiredResource;
  /** Names of the fields to explain; none: all that are declared. */
  readonly fields: readonly string[];
  readonly around: Surroundings;
  /** Of the resource's target, for an explanation without the service. */
  readonly state: State | undefined;
  readonly fingerprints: Fingerprinter | undefined;
  /** Nothing where the service was not asked. */
  readonly planned: Planned | undefined;
}

/** Where an address's values come from and what follows from them. */
export function explain(request: ExplainRequest): Explanation {
  const { resource, planned, fingerprints, around } = request;
  const seen = planned?.seen.get(targetOf(resource.address));
  const state = seen === undefined ? request.state : seen.state;
  const change = planned?.plan.changes.find(({ address }) => address === resource.address);
  const diagnostics = (planned?.plan.diagnostics ?? []).filter(({ address }) => address === resource.address);
  const problem = diagnostics.some(({ severity }) => severity === "error");
  const unclear = planned !== undefined && seen === undefined;
  const identity = seen === undefined ? identityOffline(resource, state) : identityOf(resource, seen);
  const asked = planned !== undefined;
  const ground: Ground = {
    resource,
    around,
    state,
    fingerprints,
    seen,
    change,
    asked,
    problem: problem || unclear,
    id: identity.id,
  };
  return {
    address: resource.address,
    stage: around.stage,
    ...identity,
    ...decision(ground, diagnostics),
    // With an error nothing is sent.
    calls: ground.problem ? [] : (change?.calls ?? []).map(callJson),
    fields: explainFields(ground, request.fields),
    diagnostics,
  };
}

function explainFields(ground: Ground, names: readonly string[]): readonly ExplainedField[] {
  const { resource, seen } = ground;
  const rows = <L>(table: readonly Field<L>[], live: L | undefined): readonly ExplainedField[] =>
    table
      .filter(({ name }) => (names.length === 0 ? resource.fields[name] !== undefined : names.includes(name)))
      .map((field) => explainField(field, live, ground));
  switch (resource.kind) {
    case "target":
      return rows(TARGET_FIELDS, liveTargetOf(seen));
    case "environment":
      return rows(ENVIRONMENT_FIELDS, liveEnvironmentOf(resource, seen));
    case "testCase":
      return rows(TEST_CASE_FIELDS, liveTestCaseOf(resource, seen));
    case "batchGeneration":
      return rows(BATCH_GENERATION_FIELDS, undefined);
  }
}

function decision(
  { asked, change, problem, resource, state, seen, id }: Ground,
  diagnostics: readonly Diagnostic[],
): Pick<Explanation, "action" | "why"> {
  if (!asked) return { action: "unknown", why: "The service was not asked, so nothing is decided." };
  if (problem) return { action: "problem", why: "An error keeps anything from being decided." };
  if (change !== undefined) return { action: change.action, why: whyChange(change) };
  if (resource.kind === "batchGeneration") return { action: "none", why: whyNotRun(resource, state) };
  if (seen !== undefined && id === undefined)
    return {
      action: "none",
      why: "It is not on the service, and with what is known here it cannot be planned: a secret is missing.",
    };
  const caution = diagnostics.length === 0 ? "" : " See the warnings.";
  return { action: "none", why: `All that is declared is as declared: nothing to do.${caution}` };
}

function whyChange({ action, fields, calls }: Change): string {
  const methods = [...new Set(calls.map(({ method }) => method))];
  const sent = methods
    .map((method) => count(calls.filter((call) => call.method === method).length, method, method))
    .join(", ");
  switch (action) {
    case "create":
      return `There is none, so it is made${sent === "" ? " with its target" : `: ${sent}`}.`;
    case "update":
      return `${count(new Set(fields.map(({ path }) => path[0])).size, "field")} to send: ${sent}.`;
    case "rediscover":
      return `Its prompt is sent, so the service generates again: ${sent}.`;
    case "disable":
      return `No manifest declares it any more: ${sent}.`;
  }
}

function whyNotRun({ address }: DesiredResource, state: State | undefined): string {
  const status = state?.batchGenerations.get(address)?.status;
  switch (status) {
    case "done":
      return "It ran with this content, and it runs once per content.";
    case "uncertain":
      return "It was sent, and nobody knows whether it ran; it is not sent again by itself.";
    case undefined:
    case "held":
      return "The target was there before tasc kept state of it, so nobody knows whether it ran: it is held.";
    case "undone":
      return "Nothing is planned.";
  }
}
