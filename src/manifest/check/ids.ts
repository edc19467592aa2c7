import type { DesiredResource, DesiredTarget } from "../../model/desired.ts";
import { originOf, resourcesOf } from "../../model/desired.ts";
import { manifestWarning } from "../problem.ts";
import type { ManifestProblem } from "../problem.ts";
import { errorAbout } from "./subject.ts";
import type { TargetSubject } from "./subject.ts";

/** No two addresses are bound to one id by hand. */
export function idsAreUnique(targets: readonly DesiredTarget[]): readonly ManifestProblem[] {
  const owners = new Map<string, DesiredResource>();
  const problems: ManifestProblem[] = [];
  for (const resource of targets.flatMap(resourcesOf).filter(isBoundByHand)) {
    const owner = owners.get(resource.id.toLowerCase());
    if (owner === undefined) owners.set(resource.id.toLowerCase(), resource);
    else problems.push(...idTakenTwice(resource, resource.id, owner));
  }
  return problems;
}

function isBoundByHand(resource: DesiredResource): resource is DesiredResource & { readonly id: string } {
  return resource.id !== undefined;
}

/** What finds a test case again when state is lost should find one. */
export function externalIdsAreUnique({ target }: TargetSubject): readonly ManifestProblem[] {
  const owners = new Map<string, DesiredResource>();
  const problems: ManifestProblem[] = [];
  for (const resource of target.testCases) {
    const { externalId } = resource.fields;
    // One that is bound by hand is not looked for.
    if (typeof externalId !== "string" || resource.id !== undefined) continue;
    const owner = owners.get(externalId);
    if (owner === undefined) owners.set(externalId, resource);
    else problems.push(...externalIdTwice(resource, externalId, owner));
  }
  return problems;
}

function externalIdTwice(resource: DesiredResource, id: string, owner: DesiredResource): ManifestProblem[] {
  const [origin, related] = [originOf(resource, ["externalId"]), originOf(owner, ["externalId"])];
  if (origin === undefined) return [];
  return [
    manifestWarning(
      "duplicate-external-id",
      origin,
      `${owner.address} has the same \`externalId\``,
      `A live test case is found by \`${id}\`, and could be either. Give one of the two another, or none.`,
      { address: resource.address, ...(related === undefined ? {} : { related }) },
    ),
  ];
}

function idTakenTwice(resource: DesiredResource, id: string, owner: DesiredResource): ManifestProblem[] {
  const related = originOf(owner, ["id"]);
  return errorAbout(
    resource,
    ["id"],
    "duplicate-id",
    `${owner.address} has the same \`id\``,
    `\`${id}\` can be one of the two: correct the other, or leave its \`id\` out.`,
    related === undefined ? {} : { related },
  );
}
