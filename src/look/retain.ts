import type { DesiredResource, DesiredTarget } from "../model/desired.ts";
import type { LiveElement, LiveTestCase } from "../model/live.ts";
import type { State } from "../model/state.ts";
import { isUnknown, reveal } from "../model/value.ts";
import { declaredElements, sameElements } from "../plan/elements.ts";

/**
 * What a plan keeps of a live test case. Elements are nine tenths of a list, and a plan needs them only where they are
 * declared, and as they came only where they differ; so the rest is let go as it streams by. Without this, a service of
 * 100,000 test cases would have to fit into memory whole.
 *
 * It decides nothing: what is let go is what no comparison asks for.
 */
export function retaining(
  target: DesiredTarget,
  state: State | undefined,
): (live: LiveTestCase) => LiveTestCase {
  const declaring = target.testCases.filter((resource) => resource.fields["elements"] !== undefined);
  const byId = new Map<string, DesiredResource>();
  const byName = new Map<string, DesiredResource[]>();
  for (const resource of declaring) {
    const id = resource.id ?? state?.bindings.get(resource.address)?.id;
    if (id !== undefined) byId.set(id, resource);
    for (const name of namesOf(resource)) byName.set(name, [...(byName.get(name) ?? []), resource]);
  }
  return (live) => {
    const candidates = [
      byId.get(live.id),
      ...(byName.get(`description ${live.description ?? ""}`) ?? []),
      ...(byName.get(`externalId ${live.externalId ?? ""}`) ?? []),
    ].filter((resource) => resource !== undefined);
    return { ...live, elements: keptElements(live.elements, candidates) };
  };
}

function namesOf({ fields }: DesiredResource): readonly string[] {
  return ["description", "externalId"].flatMap((name) => {
    const value = fields[name];
    if (value === undefined || isUnknown(value)) return [];
    const text = reveal(value);
    return typeof text === "string" ? [`${name} ${text}`] : [];
  });
}

function keptElements(
  elements: readonly LiveElement[] | undefined,
  candidates: readonly DesiredResource[],
): readonly LiveElement[] | undefined {
  if (elements === undefined || candidates.length === 0) return undefined;
  const same = candidates.every(({ fields }) => {
    const value = fields["elements"];
    return value !== undefined && !isUnknown(value) && sameElements(declaredElements(value), elements);
  });
  return same ? elements.map((element) => ({ ...element, raw: NOTHING })) : elements;
}

const NOTHING: LiveElement["raw"] = {};
