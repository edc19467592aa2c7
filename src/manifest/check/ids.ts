import type { DesiredResource, DesiredTarget } from "../../model/desired.ts";
import { originOf, resourcesOf } from "../../model/desired.ts";
import type { ManifestProblem } from "../problem.ts";
import { errorAbout } from "./subject.ts";

/** No two addresses are bound to one id by hand. */
export function idsAreUnique(targets: readonly DesiredTarget[]): readonly ManifestProblem[] {
  const owners = new Map<string, DesiredResource>();
  const problems: ManifestProblem[] = [];
  for (const resource of targets.flatMap(resourcesOf)) {
    if (resource.id === undefined) continue;
    const owner = owners.get(resource.id.toLowerCase());
    if (owner === undefined) owners.set(resource.id.toLowerCase(), resource);
    else problems.push(...idTakenTwice(resource, resource.id, owner));
  }
  return problems;
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
