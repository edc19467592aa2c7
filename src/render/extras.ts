import type { Address } from "../model/address.ts";
import type { Place } from "../model/diagnostic.ts";
import type { Path } from "../model/json.ts";
import type { ChangedBy, Plan } from "../model/plan.ts";

/**
 * What a plan shows beyond its public form. Plain data, so that a saved plan can carry it; all of it may be missing,
 * and nothing is decided by it.
 */
export interface PlanExtras {
  /** Who moved a field away from what was last applied: address → `fieldKey` → who. */
  readonly changedBy?: Readonly<Record<string, Readonly<Record<string, ChangedBy>>>>;
  /** What must be done first, for the graph: address → addresses. */
  readonly dependsOn?: Readonly<Record<string, readonly Address[]>>;
  /** Where the manifest causes each change. */
  readonly places?: Readonly<Record<string, Place>>;
  /** What the public form leaves out of the plan's diagnostics, in their order. */
  readonly diagnostics?: readonly { readonly code: string; readonly path?: Path }[];
}

/** The extras that the plan itself knows; places are looked up by whoever has the documents. */
export function planExtras(plan: Plan): PlanExtras {
  return {
    changedBy: Object.fromEntries(
      plan.changes.flatMap(({ address, fields }) => {
        const known = fields.flatMap(({ path, changedBy }) =>
          changedBy === undefined ? [] : [[fieldKey(path), changedBy] as const],
        );
        return known.length === 0 ? [] : [[address, Object.fromEntries(known)]];
      }),
    ),
    dependsOn: Object.fromEntries(
      plan.changes.flatMap(({ address, dependsOn }) =>
        dependsOn.length === 0 ? [] : [[address, dependsOn]],
      ),
    ),
    diagnostics: plan.diagnostics.map(({ code, origin }) =>
      origin === undefined ? { code } : { code, path: origin.path },
    ),
  };
}

export function whoChanged(extras: PlanExtras, address: Address, path: Path): ChangedBy | undefined {
  return extras.changedBy?.[address]?.[fieldKey(path)];
}

/** A path as a key that no other path has. */
function fieldKey(path: Path): string {
  return JSON.stringify(path);
}

const WORDS: Readonly<Record<ChangedBy, string>> = {
  manifest: "changed in the manifest",
  service: "changed on the service",
  both: "changed in the manifest and on the service",
};

export function changedByText(by: ChangedBy): string {
  return WORDS[by];
}
