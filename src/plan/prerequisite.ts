import type { Field } from "../fields/field.ts";
import type { Address } from "../model/address.ts";
import { compareText } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json } from "../model/json.ts";
import type { LiveTestCase } from "../model/live.ts";
import type { BodyValue } from "../model/plan.ts";
import { isSensitive, Secret } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { problem } from "./problem.ts";
import { testCaseReference, unmanagedByName } from "./seen.ts";
import type { Seen } from "./seen.ts";

type TestCase = DesiredResource<"testCase">;

export interface Prerequisite {
  readonly name?: BodyValue;
  readonly dependsOn: readonly Address[];
  readonly problem?: Diagnostic;
}

/**
 * The service finds a prerequisite by its name, so the name must be the one it has when the POST arrives: renames
 * come after the creations, so that is the live name where there is one.
 */
export function prerequisiteOf(seen: Seen, resource: TestCase): Prerequisite {
  const reference = testCaseReference(seen, resource.fields["discovery.prerequisite"]);
  if (reference === undefined) return { dependsOn: [] };
  if ("description" in reference) return unmanagedPrerequisite(seen, resource, reference.description);
  const match = seen.testCaseMatches.get(reference.key);
  const name = seen.resources.get(reference.key)?.fields["description"];
  if (match?.found === true && match.live.description !== undefined)
    return { name: likeDeclared(name, match.live.description), dependsOn: [] };
  return {
    ...(name === undefined ? {} : { name }),
    dependsOn: match?.found === true ? [] : [reference.key],
  };
}

/** The live form of what is declared as sensitive is so as well. */
function likeDeclared(declared: Value | undefined, live: string): Value {
  return declared !== undefined && isSensitive(declared) ? new Secret(live) : live;
}

function unmanagedPrerequisite(seen: Seen, resource: TestCase, description: string): Prerequisite {
  const found = unmanagedPrerequisiteProblem(seen, resource, description, "discovery.prerequisite");
  return found === undefined ? { name: description, dependsOn: [] } : { dependsOn: [], problem: found };
}

/** The error for `{ description: … }` that does not name exactly one unmanaged live test case. */
export function unmanagedPrerequisiteProblem(
  seen: Seen,
  resource: DesiredResource,
  description: string,
  field: string,
): Diagnostic | undefined {
  const found = unmanagedByName(seen, description);
  if (found.length === 1) return undefined;
  const list = found
    .map((testCase) => `  ${testCase.id}`)
    .toSorted(compareText)
    .join("\n");
  return problem(
    "prerequisite-by-name",
    resource,
    found.length === 0
      ? `No unmanaged live test case is named ${JSON.stringify(description)}`
      : `${found.length} unmanaged live test cases are named ${JSON.stringify(description)}`,
    found.length === 0
      ? "Correct the name, or, if a manifest declares the test case, write its key instead."
      : `The service finds a prerequisite by its name, so it must be the only one:\n${list}\nRename the others.`,
    field.split("."),
  );
}

/** What the service would show for a fixed field; `undefined` where that cannot be told. */
export function expectedLive(seen: Seen, field: Field<LiveTestCase>, value: Value): Json | undefined {
  if (field.shape.type !== "reference") return typeof value === "string" ? value : undefined;
  const reference = testCaseReference(seen, value);
  if (reference === undefined) return undefined;
  if ("description" in reference) return unmanagedByName(seen, reference.description)[0]?.id;
  const match = seen.testCaseMatches.get(reference.key);
  return match?.found === true ? match.id : undefined;
}
