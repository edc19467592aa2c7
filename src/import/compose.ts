import { TARGET_FIELDS } from "../fields/target.ts";
import { compareText } from "../model/address.ts";
import type { Json } from "../model/json.ts";
import type { LiveTarget, LiveTestCase } from "../model/live.ts";
import { declareFields } from "./declare.ts";
import { isEmpty } from "./draft.ts";
import type { Composed, Draft, Entry, LeftOut } from "./draft.ts";
import { importEnvironments } from "./environments.ts";
import { canBind, NOT_BINDABLE, UNCLEAR } from "./identity.ts";
import { chooseKeys } from "./keys.ts";
import { NOTHING_KNOWN } from "./known.ts";
import type { Known, KnownTarget } from "./known.ts";
import { importTestCases } from "./test-cases.ts";

/** All that the drafts follow from. */
export interface ComposeInput {
  /** All live targets. */
  readonly targets: readonly LiveTarget[];
  /** Ids of those to import. */
  readonly wanted: ReadonlySet<string>;
  /** By target id. */
  readonly testCases: ReadonlyMap<string, readonly LiveTestCase[]>;
  readonly known: Known;
  /** Folder id → name, by target id. */
  readonly folders: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly elements: boolean;
  readonly holdsSecret: (value: Json) => boolean;
}

/** What to write for live targets: what no manifest declares yet, under keys of their own. */
export function compose(input: ComposeInput): Composed {
  const { known } = input;
  const wanted = input.targets.filter(({ id }) => input.wanted.has(id));
  const leftOut: LeftOut[] = [];
  const clear = wanted.filter((live) => {
    const reason = obstacle(live, input);
    if (reason !== undefined)
      leftOut.push({ app: live.app, kind: "target", id: live.id, name: live.app, reason });
    return reason === undefined;
  });
  const keys = targetKeys(clear, input);
  const drafts = clear.map((live) => {
    const found = known.targets.get(live.id);
    const { draft, leftOut: own } = importTarget(live, keys.get(live.id) ?? "", found, input);
    leftOut.push(...own);
    return draft;
  });
  return {
    drafts: drafts.filter((draft) => !isEmpty(draft)).toSorted((a, b) => compareText(a.key, b.key)),
    leftOut,
  };
}

function obstacle(live: LiveTarget, input: ComposeInput): string | undefined {
  if (input.known.targets.get(live.id)?.declared === true) return undefined;
  if (input.known.isDoubtful(live)) return UNCLEAR;
  return mustBind(live, input) && !canBind(live.id) ? NOT_BINDABLE : undefined;
}

function targetKeys(
  live: readonly LiveTarget[],
  { known, holdsSecret }: ComposeInput,
): ReadonlyMap<string, string> {
  const unknown = live.filter(({ id }) => !known.targets.has(id));
  const wishes = unknown.map(({ id, app }) => ({
    id,
    name: holdsSecret(app) ? undefined : app,
    noun: "target",
  }));
  const old = live.flatMap(({ id }): [string, string][] => {
    const found = known.targets.get(id);
    return found === undefined ? [] : [[id, found.key]];
  });
  return new Map([...old, ...chooseKeys(wishes, known.targetKeys)]);
}

function importTarget(
  live: LiveTarget,
  key: string,
  known: KnownTarget | undefined,
  input: ComposeInput,
): { readonly draft: Draft; readonly leftOut: readonly LeftOut[] } {
  const names = input.folders.get(live.id) ?? new Map<string, string>();
  const around = {
    elements: input.elements,
    holdsSecret: input.holdsSecret,
    folderName: (id: string) => names.get(id),
  };
  const environments = importEnvironments(live, known?.environments ?? NOTHING_KNOWN, around);
  const testCases = importTestCases(
    input.testCases.get(live.id) ?? [],
    known?.testCases ?? NOTHING_KNOWN,
    known?.prerequisites ?? new Map(),
    around,
  );
  return {
    draft: {
      liveId: live.id,
      key,
      known,
      target: known?.declared === true ? undefined : targetEntry(live, key, input),
      environments: environments.entries,
      testCases: testCases.entries,
    },
    leftOut: [...environments.leftOut, ...testCases.leftOut].map((one) => ({ ...one, app: live.app })),
  };
}

function targetEntry(live: LiveTarget, key: string, input: ComposeInput): Entry {
  const { fields, notes } = declareTarget(live, input);
  return { id: live.id, key, bind: mustBind(live, input), fields, notes, folderId: null };
}

function declareTarget(live: LiveTarget, { elements, holdsSecret }: ComposeInput) {
  return declareFields(TARGET_FIELDS, live, {
    elements,
    holdsSecret,
    defaults: new Set(),
    folderName: () => undefined,
  });
}

/** A target is found by its app, if that is declared and no other live one has it. */
function mustBind(live: LiveTarget, input: ComposeInput): boolean {
  if (declareTarget(live, input).fields["app"] === undefined) return true;
  return input.targets.filter(({ app }) => app === live.app).length > 1;
}
