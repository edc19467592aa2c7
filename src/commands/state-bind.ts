import { EXIT, type ExitCode, type Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import type { Read, Reader } from "../look/look.ts";
import { readerOf } from "../look/service.ts";
import { type Kind, targetAddress } from "../model/address.ts";
import { resourcesOf } from "../model/desired.ts";
import { DELETED } from "../model/fields.ts";
import type { LiveTarget } from "../model/live.ts";
import { type State, emptyState } from "../model/state.ts";
import { kindNoun } from "../render/words.ts";
import type { Client } from "../service/client.ts";
import { type LockedDocument, bindAddress, taken } from "../state/edit.ts";
import { connect, refusedByService } from "./connect.ts";
import { sayDiagnostics, sayError } from "./diagnostics.ts";
import { fingerprinterOf } from "./look.ts";
import { liveIds } from "./managed.ts";
import {
  type Access,
  type NamedAddress,
  readAddress,
  saveCorrection,
  sayRefusal,
  underLock,
  withStates,
} from "./state-access.ts";
import { type OrCode, readStates, readStrays } from "./states.ts";

/** `tasc state bind ADDRESS ID`: says which live resource an address means. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  return await withStates(given, world, async (access) => {
    const [text, id = ""] = given.args;
    const named = readAddress(text, access.opened.console);
    if (named === undefined) return EXIT.invalid;
    if (named.parts.kind === "batchGeneration") return refuseBatch(named, access);
    const { kind, target } = named.parts;
    return await underLock(given, access, [target], "tasc state bind", async (documents) => {
      const [document] = documents;
      if (document === undefined) return EXIT.failed;
      return await bind({ given, world, access, named, kind, id, document });
    });
  });
}

interface Job {
  readonly given: Given;
  readonly world: World;
  readonly access: Access;
  readonly named: NamedAddress;
  readonly kind: Sought["kind"];
  readonly id: string;
  readonly document: LockedDocument;
}

function refuseBatch({ address }: NamedAddress, { opened }: Access): ExitCode {
  sayError(
    opened.console,
    "A batch generation has no id to bind",
    `The service cannot show one. Say whether it ran:\n  tasc state mark ${address} done`,
  );
  return EXIT.invalid;
}

/** The checks that need no call come first; then the service is asked; then it is bound. */
async function bind(job: Job): Promise<ExitCode> {
  const { access, named, id, document } = job;
  const { console, project } = access.opened;
  const target = project.desired.targets.find(({ key }) => key === named.parts.target);
  if (target === undefined && document.state === undefined) return refuseUnknownTarget(named, access);
  const elsewhere = await boundElsewhere(job);
  if (elsewhere !== undefined) return elsewhere;
  const listed = await checkListed(job);
  if (listed !== undefined) return listed;
  const declared =
    target !== undefined && resourcesOf(target).some(({ address }) => address === named.address);
  const fingerprints = fingerprinterOf(project.settings);
  const correction = bindAddress(stateOf(document), named.address, id, { target, fingerprints });
  if (correction.ok && !declared) sayUndeclared(named, access);
  const before = document.state?.bindings.get(named.address)?.id;
  const instead = before === undefined || before === id ? "" : ` It was bound to ${before}.`;
  const done = `${named.address} is bound to ${id}.${instead}`;
  return await saveCorrection(document, correction, console, done);
}

function stateOf({ state, key }: LockedDocument): State {
  return state ?? emptyState(key.stage, key.target, key.service);
}

function refuseUnknownTarget({ parts }: NamedAddress, { opened }: Access): ExitCode {
  sayError(
    opened.console,
    `There is no target ${parts.target}`,
    "No manifest declares it, and there is no state of it. Declare it first, or correct the address.",
  );
  return EXIT.invalid;
}

/** Another address that has the id, in this target or another one, by state or by the manifest. */
async function boundElsewhere({ access, named, id, document }: Job): Promise<ExitCode | undefined> {
  const { console, project } = access.opened;
  const { targets } = project.desired;
  const byHand = targets.flatMap(resourcesOf).find((one) => one.id === id && one.address !== named.address);
  if (byHand !== undefined) {
    sayError(console, `${id} is the \`id:\` of ${byHand.address}`, "Take it out of that manifest first.");
    return EXIT.failed;
  }
  const others = await readStrays(access.states, [document.key.target], console);
  if (!others.ok) return others.code;
  for (const { bindings } of others.value)
    for (const [address, binding] of bindings)
      if (binding.id === id) {
        const refusal = taken(id, address);
        return refusal.ok ? undefined : sayRefusal(console, refusal);
      }
  return undefined;
}

/** Asks the service whether the id is there; `undefined` if it is. */
async function checkListed(job: Job): Promise<ExitCode | undefined> {
  const { given, world, access } = job;
  const { console, project } = access.opened;
  if (project.settings.apiKey === undefined) sayDiagnostics(console, project.diagnostics, project.sources);
  const connected = connect(given, world, project.settings, console);
  if (!connected.ok) return connected.code;
  try {
    return await askService(job, connected.client);
  } finally {
    await connected.client.close();
  }
}

async function askService(job: Job, client: Client): Promise<ExitCode | undefined> {
  const { access, kind, id, named } = job;
  const { console } = access.opened;
  const targets = await client.listTargets();
  if (!targets.ok) return refusedByService(console, targets.failure);
  const targetId = await targetIdOf(job, targets.value);
  if (!targetId.ok) return targetId.code;
  const sought: Sought = { kind, id, targetId: targetId.value };
  const answer = await isListed(readerOf(client), targets.value, sought);
  if (!answer.ok) return refusedByService(console, answer.failure);
  if (answer.value.listed) return undefined;
  const where = kind === "target" ? "" : ` in target ${named.parts.target}`;
  sayError(
    console,
    `The service lists no ${kindNoun(kind)} with the id ${id}${where}`,
    `${answer.value.hint} Nothing was bound.`.trim(),
  );
  return EXIT.failed;
}

/** The live target that the address is in, as a plan would find it. */
async function targetIdOf(
  { access, named, document }: Job,
  targets: Parameters<typeof liveIds>[2],
): Promise<OrCode<string | undefined>> {
  const { console, project } = access.opened;
  const { desired } = project;
  const keys = desired.targets.map(({ key }) => key);
  const states = await readStates(access.states, keys, console);
  if (!states.ok) return states;
  const { target } = named.parts;
  const bound = document.state?.bindings.get(targetAddress(target))?.id;
  return { ok: true, value: liveIds(desired, states.value, targets).get(target) ?? bound };
}

function sayUndeclared({ address }: NamedAddress, { opened }: Access): void {
  sayDiagnostics(opened.console, [
    {
      severity: "warning",
      code: "bound-undeclared",
      summary: `No manifest declares ${address}`,
      detail: "It is bound all the same, and a plan lists it as orphaned until one does.",
    },
  ]);
}

/** Where an id is looked for. */
interface Sought {
  readonly kind: Exclude<Kind, "batchGeneration">;
  readonly id: string;
  /** Id of the test target that an environment or a test case must be in. */
  readonly targetId: string | undefined;
}

/** Whether the service lists a resource of that kind with that id, in that target; or what it is instead. */
async function isListed<F>(
  reader: Reader<F>,
  targets: readonly LiveTarget[],
  sought: Sought,
): Promise<Read<{ readonly listed: boolean; readonly hint: string }, F>> {
  const { kind, id, targetId } = sought;
  const hint = hintFor(targets, sought);
  if (kind === "target")
    return found(
      targets.some((target) => target.id === id),
      hint,
    );
  const target = targets.find((candidate) => candidate.id === targetId);
  if (kind === "environment")
    return found(target?.environments.some((environment) => environment.id === id) === true, hint);
  if (target === undefined) return found(false, hint);
  const cases = await reader.listTestCases(target.id, (live) => ({ ...live, elements: undefined }));
  if (!cases.ok) return cases;
  const live = cases.value.find((testCase) => testCase.id === id);
  if (live?.status === DELETED) return found(false, "It was deleted on the service.");
  return found(live !== undefined, hint);
}

function found(listed: boolean, hint: string) {
  return { ok: true as const, value: { listed, hint } };
}

/** An id of another kind is an easy mistake. */
function hintFor(targets: readonly LiveTarget[], { kind, id, targetId }: Sought): string {
  if (kind !== "target" && targets.some((target) => target.id === id))
    return "It is the id of a test target.";
  const holder = targets.find(({ environments }) => environments.some((one) => one.id === id));
  if (holder !== undefined && (kind !== "environment" || holder.id !== targetId))
    return `It is the id of an environment of the test target ${holder.id}.`;
  if (kind !== "target" && targetId === undefined)
    return "Its test target is not on the service, or is not bound yet.";
  return "";
}
