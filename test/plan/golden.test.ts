import { expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import { type BodyValue, type PlannedCall, plainBody } from "../../src/model/plan.ts";
import { IdOf, Secret } from "../../src/model/value.ts";
import { type Planned, makePlan } from "../../src/plan/plan.ts";
import { refreshEvents } from "../../src/plan/record.ts";
import { guardsOf } from "../../src/plan/staleness.ts";
import type { PlanInput } from "../../src/plan/input.ts";
import { EVERYTHING } from "../../src/plan/scope.ts";
import { type Situation, fingerprints, planInput } from "./build.ts";
import { created } from "./situations/created.ts";
import { elements } from "./situations/elements.ts";
import { known } from "./situations/known.ts";
import { seen } from "./situations/seen.ts";

/*
 * Whole plans, one for each way to decide: changes, calls, attention, diagnostics with their words,
 * and what an apply would record. A change of the golden file is a change of what users read.
 */

/** The addresses that `removed:` of a row names. */
const REMOVED: Readonly<Record<string, readonly Address[]>> = {
  "removed: forgets": ["testCase.shop.gone", "testCase.shop.never", "target.old"],
};

const rows = Object.entries({ ...created, ...elements, ...known, ...seen });

test.each(rows)("%s", (title, situation) => {
  const { desired, ...input } = planInput(situation);
  const origin = { file: "targets/shop.yaml", path: [] };
  const removed = (REMOVED[title] ?? []).map((address) => ({ address, origin }));
  const planned = makePlan({ ...input, desired: { ...desired, removed } });
  expect(`\n${linesOf(planned, situation.state).join("\n")}\n`).toMatchSnapshot();
});

/*
 * Laws over the same situations.
 */

/** The live data and the manifests in the opposite order. */
function turned(input: PlanInput): PlanInput {
  const { targets, testCases } = input.live;
  return {
    ...input,
    desired: { ...input.desired, targets: input.desired.targets.toReversed() },
    live: {
      targets: targets
        .map((one) => ({ ...one, environments: one.environments.toReversed() }))
        .toReversed(),
      testCases: new Map([...testCases].map(([id, own]) => [id, own.toReversed()] as const)),
    },
    strays: input.strays.toReversed(),
  };
}

test.each(rows)("the order of what is read does not matter: %s", (_, situation) => {
  const input = planInput(situation);
  const { plan } = makePlan(turned(input));
  expect(plan).toEqual(makePlan(input).plan);
});

test.each(rows)("a scope narrows the whole plan: %s", (_, situation) => {
  const input = planInput(situation);
  const { plan, matched } = makePlan({ ...input, scope: EVERYTHING });
  const addresses = [...matched.values()].flatMap(({ resources }) => [...resources.keys()]);
  for (const only of new Set([...addresses, ...plan.changes.map(({ address }) => address)])) {
    const { plan: narrow } = makePlan({ ...input, scope: { only: [only], exclude: [] } });
    const needed = new Set<Address>([only]);
    for (const one of needed)
      for (const more of plan.changes.find(({ address }) => address === one)?.dependsOn ?? [])
        needed.add(more);
    expect(narrow.changes).toEqual(plan.changes.filter(({ address }) => needed.has(address)));
    expect(narrow.orphaned).toEqual(plan.orphaned.filter(({ address }) => address === only));
    const busy = new Set(
      [...plan.changes, ...plan.diagnostics.filter(({ severity }) => severity === "error")].map(
        ({ address }) => address,
      ),
    );
    const { unchanged, held } = narrow.summary;
    expect(unchanged + held).toBe(addresses.includes(only) && !busy.has(only) ? 1 : held);
  }
});

function linesOf(planned: Planned, known: Situation["state"]): readonly string[] {
  const { changes, attention, diagnostics, orphaned, summary } = planned.plan;
  const guards = guardsOf(planned, fingerprints);
  const records = [...planned.matched.values()].flatMap((matched) =>
    refreshEvents(matched, fingerprints, () => true),
  );
  const counts = Object.entries({ ...summary, ...summary.calls, calls: 0 });
  return [
    ...changes.flatMap((change) => [
      `${change.action} ${change.address} ${change.id ?? "-"}`,
      ...change.fields.map(({ path, ...field }) => `  ${path.join(".")} ${json({ ...field })}`),
      ...change.calls.map((call) => `  ${callLine(call)}`),
      ...change.followUps.map((call) => `  then ${callLine(call)}`),
      ...(change.dependsOn.length === 0 ? [] : [`  after ${change.dependsOn.join(" ")}`]),
      ...(change.losses === undefined ? [] : [`  loses ${json({ ...change.losses })}`]),
      `  guard ${json({ ...guards[change.address] })}`,
    ]),
    ...attention.map(({ severity, code, text }) => `! ${severity} ${code}: ${text}`),
    ...orphaned.map(({ address, id }) => `orphaned ${address} ${id}`),
    ...diagnostics.map(
      ({ severity, code, address = "", summary, detail }) =>
        `${severity} ${code} ${address}: ${summary}\n  ${detail.replaceAll("\n", "\n  ")}`,
    ),
    ...[...planned.stateEvents.values()].flat().map((event) => `before ${json({ ...event })}`),
    ...records.map((event) => `record ${json({ ...event })}`),
    `counts ${counts.flatMap(([name, n]) => (n === 0 ? [] : `${name} ${n}`)).join(", ")}`,
    ...(known === undefined ? ["without state"] : []),
  ];
}

function callLine({ method, path, body }: PlannedCall): string {
  const segments = path.map((part) => (part instanceof IdOf ? `<${part.of}>` : part));
  return `${method} ${segments.join("/")} ${json(body)}`;
}

/** Plain data in one line; secrets, unknown values and ids that are not known yet in brackets. */
function json(value: BodyValue): string {
  const plain = plainBody(value, (leaf) =>
    leaf instanceof IdOf ? `<${leaf.of}>` : leaf instanceof Secret ? "<secret>" : "<unknown>",
  );
  return JSON.stringify(plain);
}
