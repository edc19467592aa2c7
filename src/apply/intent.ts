import { targetAddress } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { LiveTarget, LiveTestCase } from "../model/live.ts";
import type { Intent } from "../model/state.ts";
import { batchContent } from "../plan/batch-generation.ts";
import { knownText } from "../plan/declared.ts";
import { nameDigest, NO_ID_YET, urlDigest } from "../plan/recover.ts";
import { targetOf } from "../plan/scope.ts";
import { idOf } from "./context.ts";
import type { Run } from "./context.ts";
import { createdRecords } from "./records.ts";

/** What must be known later to tell what a POST made from what was there before, and what it carried. */
export function intentOf(run: Run, resource: DesiredResource): Intent {
  const { context } = run;
  const { fingerprints } = context;
  const at = new Date(context.now()).toISOString();
  if (resource.kind === "batchGeneration")
    return { at, existing: [], content: batchContent(fingerprints, resource), fields: {} };
  const fields = createdRecords(fingerprints, resource, NO_ID_YET);
  const existing = alike(run, resource).map(({ id }) => id);
  if (resource.kind === "environment")
    return { at, existing, name: urlDigest(fingerprints, knownText(resource, "discoveryUrl")), fields };
  const name = nameDigest(fingerprints, nameOf(resource));
  const externalId = knownText(resource, "externalId");
  return {
    at,
    existing,
    name,
    ...(externalId === undefined ? {} : { externalId: nameDigest(fingerprints, externalId) }),
    fields,
  };
}

function nameOf(resource: DesiredResource): string {
  return knownText(resource, resource.kind === "target" ? "app" : "description") ?? "";
}

/** What was there before and could be taken for it. */
function alike(run: Run, resource: DesiredResource): readonly { readonly id: string }[] {
  const name = nameOf(resource);
  switch (resource.kind) {
    case "target":
      return run.progress.targets.filter((target) => target.app === name);
    case "environment":
      return liveTarget(run, resource)?.environments ?? [];
    case "testCase": {
      const externalId = knownText(resource, "externalId");
      return liveTestCases(run, resource).filter(
        (testCase) =>
          testCase.description === name || (externalId !== undefined && testCase.externalId === externalId),
      );
    }
    case "batchGeneration":
      return [];
  }
}

function liveTarget(run: Run, { address }: DesiredResource): LiveTarget | undefined {
  const id = idOf(run, targetAddress(targetOf(address)));
  return run.progress.targets.find((target) => target.id === id);
}

function liveTestCases(run: Run, { address }: DesiredResource): readonly LiveTestCase[] {
  const id = idOf(run, targetAddress(targetOf(address)));
  return run.progress.testCases.get(id ?? "") ?? [];
}
