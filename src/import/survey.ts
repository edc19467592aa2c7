import type { Document } from "../manifest/document.ts";
import type { LiveTarget, LiveTestCase } from "../model/live.ts";
import type { Read, Reader } from "../look/look.ts";
import type { PlanInput } from "../plan/inputs.ts";
import { makePlan } from "../plan/plan.ts";
import { whatIsKnown } from "./known.ts";
import type { Known } from "./known.ts";

/** What an import reads, and what is known of it already. */
export interface Survey {
  readonly targets: readonly LiveTarget[];
  /** Those to import. */
  readonly chosen: readonly LiveTarget[];
  readonly known: Known;
  /** For the proof: all but what the import adds. */
  readonly input: PlanInput;
}

/** What a plan needs besides the live service. */
export type Declared = Omit<PlanInput, "live"> & { readonly documents: readonly Document[] };

/** The targets that are meant, or the words of `--target` that mean none. */
export function chooseTargets(
  targets: readonly LiveTarget[],
  wishes: readonly string[],
): { readonly chosen: readonly LiveTarget[]; readonly unknown: readonly string[] } {
  if (wishes.length === 0) return { chosen: targets, unknown: [] };
  return {
    chosen: targets.filter((target) => wishes.some((wish) => means(wish, target))),
    unknown: wishes.filter((wish) => !targets.some((target) => means(wish, target))),
  };
}

function means(wish: string, { id, app }: LiveTarget): boolean {
  return wish === id || wish === app;
}

/** Reads the test cases of the chosen targets, side by side, and finds out which of it manifests mean already. */
export async function survey<F>(
  reader: Reader<F>,
  targets: readonly LiveTarget[],
  chosen: readonly LiveTarget[],
  elements: boolean,
  { documents, ...declared }: Declared,
): Promise<Read<Survey, F>> {
  const keep = (testCase: LiveTestCase): LiveTestCase =>
    elements ? testCase : { ...testCase, elements: undefined };
  const lists = await Promise.all(
    chosen.map(async ({ id }) => [id, await reader.listTestCases(id, keep)] as const),
  );
  const testCases = new Map<string, readonly LiveTestCase[]>();
  for (const [id, list] of lists) {
    if (!list.ok) return list;
    testCases.set(id, list.value);
  }
  const input: PlanInput = { ...declared, live: { targets, testCases } };
  const { desired, states, strays } = declared;
  const known = whatIsKnown({ desired, documents, planned: makePlan(input), states, strays });
  return { ok: true, value: { targets, chosen, known, input } };
}
