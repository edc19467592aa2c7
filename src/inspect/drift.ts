import { type Address, compareAddresses } from "../model/address.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { defined } from "../model/json.ts";
import type { FieldJson } from "../model/plan.ts";
import type { MatchedTarget } from "../plan/matched-target.ts";
import { type Scope, scopeTest } from "../plan/scope.ts";
import type { Planned } from "../plan/plan.ts";
import { foldAlike } from "../render/fields.ts";
import { CHANGED_BY, type ChangeView, type PlanMeta, diagnosticJson } from "../render/json.ts";
import { outside } from "../render/redact.ts";
import { type Block, type Line, type Section, type View, faint, strong } from "../render/view.ts";
import { nonZero } from "../model/words.ts";
import { reviewedCases } from "../plan/steps.ts";
import { byTarget } from "../render/words.ts";

/**
 * What the service changed since the last apply: a plan without the changes that come from the
 * manifests.
 */
export type Drift = ReturnType<typeof driftOf>;

/**
 * A bound resource that the service no longer lists, and the id of the resource that has its name
 * now.
 */
type Removed = { readonly address: Address; readonly id: string; readonly replacedBy?: string };

export function driftOf({ plan, matched }: Planned, scope: Scope) {
  const inScope = scopeTest(scope);
  const removed = [...matched.values()]
    .flatMap(removedFrom)
    .filter(({ address }) => inScope(address));
  return {
    /** Sorted by address, like `removed`. */
    changes: plan.changes.flatMap(({ address, id, fields }) => {
      // A plan goes from the live value to the declared one; drift went the other way, so the sides
      // are swapped.
      const drifted = fields.flatMap(({ path, before, after, sensitive, changedBy }) => {
        if (changedBy === undefined || changedBy === "manifest") return [];
        const sides = sensitive ? { sensitive } : { before: after, after: before };
        const drawn: FieldJson = defined({ path, ...sides });
        return [{ drawn, changedBy }];
      });
      return id === undefined || drifted.length === 0 ? [] : [{ address, id, fields: drifted }];
    }),
    removed: removed.toSorted((a, b) => compareAddresses(a.address, b.address)),
    /** Test cases whose steps are not those that were accepted, with `policy.steps`. */
    steps: reviewedCases(matched)
      .flatMap(({ resource: { address }, acceptance: { state, differences } }) =>
        inScope(address) && (state === "weakened" || state === "changed")
          ? [{ address, state, differences }]
          : [],
      )
      .toSorted((a, b) => compareAddresses(a.address, b.address)),
    /**
     * Still bound, but no longer declared. This is not drift, but a nightly job would not see it
     * otherwise.
     */
    orphaned: plan.orphaned,
    /** Errors of the plan, and reasons why drift cannot be detected. */
    problems: problemsOf(plan.diagnostics, new Set(removed.map(({ address }) => address))),
  };
}

export function hasDrifted({ changes, removed, steps }: Drift): boolean {
  return changes.length + removed.length + steps.length > 0;
}

/**
 * Returns removed resources, but none with an `id` in the manifest: there, another id is a
 * correction, and not drift.
 */
function removedFrom({ resources, matches, state }: MatchedTarget): readonly Removed[] {
  return [...resources.values()].flatMap(({ address, id: byHand }) => {
    const match = matches.get(address);
    const id = state?.bindings.get(address)?.id;
    const replacedBy = match?.live?.id;
    if (match === undefined || id === undefined || id === replacedBy || byHand !== undefined)
      return [];
    return [{ address, id, ...defined({ replacedBy }) }];
  });
}

/**
 * Returns the errors. Records under another key become one: drift cannot be detected, and silence
 * would mean "no drift".
 */
function problemsOf(
  diagnostics: readonly Diagnostic[],
  removed: ReadonlySet<Address>,
): readonly Diagnostic[] {
  return diagnostics.flatMap((diagnostic): readonly Diagnostic[] => {
    // A removed resource is drift, even if a plan could not create it again.
    if (diagnostic.address !== undefined && removed.has(diagnostic.address)) return [];
    if (diagnostic.severity === "error") return [diagnostic];
    if (diagnostic.code !== "key-changed") return [];
    const detail =
      "What was last applied is recorded under another API key or `state.fingerprintKey`, so changes cannot be attributed. Use the key from the last apply. If that key is gone, review a plan with the current key, and apply it.";
    return [{ ...diagnostic, severity: "error", summary: "Cannot detect drift", detail }];
  });
}

export interface DriftOptions {
  readonly stage: string;
  readonly baseUrl: string;
  readonly meta: PlanMeta;
  readonly verbose: boolean;
  /** Whether there was an apply before, so that there is something to compare with. */
  readonly applied: boolean;
}

export function driftView(drift: Drift, options: DriftOptions): View {
  const { changes, removed, steps, orphaned, problems } = drift;
  const { stage, baseUrl, meta } = options;
  return {
    json: {
      formatVersion: "1.1",
      tool: meta.tool,
      stage,
      baseUrl,
      createdAt: meta.createdAt,
      summary: { changed: changes.length, removed: removed.length, orphaned: orphaned.length },
      changes: changes.map(({ address, id, fields }) => ({
        address,
        id,
        fields: fields.map(({ drawn: { path, before, after, sensitive }, changedBy }) => ({
          path,
          declared: outside(before),
          live: outside(after),
          sensitive,
          changedBy,
        })),
      })),
      removed,
      orphaned: orphaned.map(({ address, id }) => ({ address, id })),
      ...(steps.length === 0
        ? {}
        : {
            steps: steps.map(({ address, state, differences }) => ({
              address,
              state,
              differences: differences.map((one) => ({ ...one })),
            })),
          }),
      diagnostics: problems.map((problem) => ({ ...diagnosticJson(problem) })),
    },
    text: [
      [
        [strong(`Stage ${stage}`), " ", faint(`at ${baseUrl}`)],
        ...(changes.length === 0 ? [] : [[faint("as declared → on the service now")]]),
      ],
      ...targetSections(drift, options),
      steps.length === 0
        ? []
        : [
            [strong("Steps changed since they were accepted; `tasc steps` shows how")],
            ...steps.map(({ address, state }) => [`  ${address}  `, faint(state)]),
          ],
      orphaned.length === 0
        ? []
        : [
            [strong("Orphaned: removed from the manifests but still on the service")],
            ...orphaned.map(({ address, id }) => [`  ${address}  `, faint(id)]),
          ],
      [summaryLine(drift, options)],
    ],
  };
}

function targetSections(
  { changes, removed }: Drift,
  { verbose }: DriftOptions,
): readonly Section[] {
  const drawn = changes.map(({ address, id, fields }): ChangeView => {
    const shown = fields.map(({ drawn, changedBy }) => ({ ...drawn, who: CHANGED_BY[changedBy] }));
    return { address, action: "update", id, fields: shown, calls: [], followUps: [] };
  });
  const entries: readonly { readonly address: Address; readonly block: Block }[] = [
    ...foldAlike(drawn, verbose).map((fold) => ({
      address: fold[0].address,
      block: { fold, verbose },
    })),
    ...removed.map((one) => ({ address: one.address, block: removedLine(one) })),
  ].toSorted((a, b) => compareAddresses(a.address, b.address));
  return [...byTarget(entries)].map(([target, own]) => [
    [strong(target)],
    { indent: 2, blocks: own.map(({ block }) => block) },
  ]);
}

function removedLine({ address, id, replacedBy }: Removed): Block {
  const instead = replacedBy === undefined ? "" : `; ${replacedBy} has its name now`;
  return [
    { style: "disable", text: "-" },
    " ",
    strong(address),
    "  ",
    faint(`removed outside tasc (it was ${id}${instead})`),
  ];
}

function summaryLine(
  { changes, removed, steps, problems }: Drift,
  { applied }: DriftOptions,
): Line {
  if (problems.length > 0)
    return [{ style: "error", text: "Cannot detect all drift; see the errors." }];
  if (!applied) return "Nothing was applied yet, so there is nothing to compare with.";
  if (changes.length + removed.length + steps.length === 0)
    return "No drift. Managed fields match the last apply.";
  return [
    strong(
      `Drift: ${[
        `${changes.length} changed`,
        `${removed.length} removed`,
        ...nonZero(`${steps.length} with other steps`),
      ].join(", ")}`,
    ),
  ];
}
