import * as fc from "fast-check";
import { expect, test } from "vitest";
import { formatManifest } from "../../src/manifest/format.ts";
import { resourcesOf } from "../../src/model/desired.ts";
import { DELETED } from "../../src/model/fields.ts";
import { matchedIds } from "../../src/plan/match.ts";
import { LAYOUTS } from "../../src/edit/import/request.ts";
import type { Prepared } from "../../src/edit/import/prepare.ts";
import { type Service, idOf, service } from "./live.ts";
import {
  type Options,
  PROJECT,
  type World,
  after,
  emptyProject,
  plan,
  prepared,
  shown,
} from "./project.ts";

const options: fc.Arbitrary<Options> = fc.record({
  elements: fc.boolean(),
  layout: fc.constantFrom(undefined, ...LAYOUTS),
  folders: fc.constantFrom(
    new Map(),
    new Map([[idOf(9, 1), "Au${th}"]]),
    new Map([
      [idOf(9, 1), "A"],
      [idOf(9, 2), "a"],
    ]),
  ),
});

async function expectEmptyPlan(world: World): Promise<void> {
  if (Object.keys(world.files).length === 1) return;
  const { plan: made } = (await plan(world)).planned;
  expect({ changes: made.changes, diagnostics: made.diagnostics }, shown(world)).toEqual({
    changes: [],
    diagnostics: [],
  });
}

async function hasDiagnostics(world: World): Promise<boolean> {
  if (Object.keys(world.files).length === 1) return false;
  return (await plan(world)).planned.plan.diagnostics.length > 0;
}

/** The live ids that are matched to an address. */
async function managedIds(world: World): Promise<readonly string[]> {
  if (Object.keys(world.files).length === 1) return [];
  const { planned } = await plan(world);
  return [...planned.matched.values()].flatMap(({ matches }) => [...matchedIds(matches)]);
}

function allIds({ targets, testCases }: Service): readonly string[] {
  return targets.flatMap(({ id, environments }) => [
    id,
    ...environments.map((one) => one.id),
    ...(testCases.get(id) ?? []).filter(({ status }) => status !== DELETED).map((one) => one.id),
  ]);
}

test("after an import the plan is empty, everything live is managed, and a second import writes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(service, options, async ({ targets, testCases }, given) => {
      const before = emptyProject(targets, testCases);
      const first = await prepared(before, given);
      expect(first).toMatchObject({ problems: [], unmatched: [], leftOut: [] });
      written(first);
      const imported = after(before, first);
      await expectEmptyPlan(imported);
      expect((await managedIds(imported)).toSorted()).toEqual([...allIds(before)].toSorted());
      const second = await prepared(imported, given);
      expect({ files: second.files, learnt: second.learnt.size }).toEqual({ files: [], learnt: 0 });
    }),
    { numRuns: 60 },
  );
});

test("an import of a service that has grown since adds the new resources, and the plan stays empty", async () => {
  await fc.assert(
    fc.asyncProperty(service, options, fc.nat(), async (whole, given, cut) => {
      const few = {
        targets: whole.targets.map((target) => ({
          ...target,
          environments: target.environments.filter((_, at) => (at + cut) % 2 === 0),
        })),
        testCases: new Map(
          [...whole.testCases].map(
            ([id, list]) => [id, list.filter((_, at) => (at + cut) % 3 > 0)] as const,
          ),
        ),
      };
      const before = emptyProject(few.targets, few.testCases);
      const imported = after(before, await prepared(before, given));
      const grown = { ...imported, ...whole };
      const more = await prepared(grown, given);
      written(more);
      expect({ problems: more.problems, unmatched: more.unmatched }).toEqual({
        problems: [],
        unmatched: [],
      });
      const complete = after(grown, more);
      const old = new Set(await managedIds(grown));
      const now = new Set([...(await managedIds(complete)), ...more.leftOut.map(({ id }) => id)]);
      for (const id of [...old, ...allIds(whole)]) expect(now).toContain(id);
      // New resources can make old matches ambiguous. An import cannot fix that, because it edits
      // no file.
      const unclear = await hasDiagnostics(grown);
      if (!unclear) await expectEmptyPlan(complete);
    }),
    { numRuns: 150 },
  );
});

/**
 * How the service of a second stage can differ from the first one's: other ids, fewer resources,
 * other values.
 */
const secondStage = fc.record({
  app: fc.constantFrom("same", "named", "other"),
  keep: fc.array(fc.nat(9), { minLength: 15, maxLength: 15 }),
  changed: fc.array(fc.option(service, { nil: undefined, freq: 1 }), {
    minLength: 1,
    maxLength: 1,
  }),
});

function otherIds(id: string): string {
  return id.replace(/^.{8}/, (head) => head.replace(/^0/, "b"));
}

function inSecondStage(
  first: Service,
  { app, keep, changed }: typeof secondStage extends fc.Arbitrary<infer T> ? T : never,
): Service {
  const [donor] = changed;
  const donated = [...(donor?.testCases.values() ?? [])].flat();
  const targets = first.targets.map((one) => ({
    ...one,
    id: otherIds(one.id),
    app:
      app === "same"
        ? one.app
        : app === "named"
          ? one.app.replaceAll("first", "second")
          : `${one.app} again`,
    environments: one.environments
      .filter((_, at) => (keep[at] ?? 0) > 1)
      .map((own) => ({ ...own, id: otherIds(own.id) })),
  }));
  const testCases = new Map(
    [...first.testCases].map(([id, list]) => [
      otherIds(id),
      list
        .filter((_, at) => (keep[at] ?? 0) > 2)
        .map((own, at) => {
          const other = (keep[at] ?? 0) > 6 ? donated[at] : undefined;
          const moved = {
            ...own,
            ...(other === undefined
              ? {}
              : { ...other, description: own.description, externalId: own.externalId }),
          };
          const { folderId, prerequisiteId } = moved;
          return {
            ...moved,
            id: otherIds(own.id),
            folderId: typeof folderId === "string" ? otherIds(folderId) : folderId,
            prerequisiteId:
              typeof prerequisiteId === "string" ? otherIds(prerequisiteId) : prerequisiteId,
          };
        }),
    ]),
  );
  return { targets, testCases };
}

/** What an import writes, which `fmt --check` accepts. */
function written({ files, texts }: Prepared) {
  const all = [...files, ...texts];
  for (const { after: text } of all) expect(formatManifest(text, "target")).toBe(text);
  return all.map(({ file, after: text }) => [file, text]);
}

/** What a person adds to imported manifests, in files that `fmt --check` accepts. */
const byHand = fc.constantFrom<((text: string) => string)[]>(
  (text) => text,
  (text) => `# Kept by hand.\nx-kept: [a, b]\n${text}`,
  (text) => text.replace(/^( +)(status|tags|folder|description): /m, "$1# By hand.\n$1$2: "),
);

const TWO_STAGES = `${PROJECT}stages: { first: {}, second: {} }\n`;

test("after a second stage is imported both plans are empty, and renamed test cases are recognised", async () => {
  let together = 0;
  await fc.assert(
    fc.asyncProperty(
      service,
      secondStage,
      options,
      byHand,
      async (bare, variation, given, edit) => {
        fc.pre(bare.targets.length > 0);
        const named = bare.targets.map((one) => ({
          ...one,
          app: one.app === "Blog" ? "Blog (first)" : one.app,
          // A target has one default environment, which both stages share.
          environments: one.environments.filter(
            (own, at, all) =>
              own.type !== "DEFAULT" || all.findIndex(({ type }) => type === "DEFAULT") === at,
          ),
        }));
        const one = { ...bare, targets: named };
        const two = inSecondStage(one, variation);
        const start = {
          ...emptyProject(one.targets, one.testCases, { "tasc.yaml": TWO_STAGES }),
          stage: "first",
        };
        const found = after(start, await prepared(start, given));
        const files = Object.entries(found.files).map(([name, text]): [string, string] => [
          name,
          name.endsWith("tasc.yaml") ? text : formatManifest(edit(text), "target"),
        ]);
        const imported = { ...found, files: Object.fromEntries(files) };
        await expectEmptyPlan(imported);
        const second: World = { ...imported, ...two, states: new Map(), stage: "second" };
        const more = await prepared(second, given);
        expect(
          { problems: more.problems, unmatched: more.unmatched, leftOut: more.leftOut },
          shown(second),
        ).toEqual({
          problems: [],
          unmatched: [],
          leftOut: [],
        });
        if (more.texts.length > 0) together++;
        const both = after(second, more);
        await expectEmptyPlan(both);
        await expectEmptyPlan({ ...both, ...one, states: imported.states, stage: "first" });
        expect((await managedIds(both)).toSorted()).toEqual([...allIds(both)].toSorted());
        const again = await prepared(both, given);
        expect({ files: again.files, texts: again.texts, learnt: again.learnt.size }).toEqual({
          files: [],
          texts: [],
          learnt: 0,
        });
        // After `git checkout .`, state still has what the import learnt.
        const redone = await prepared({ ...both, files: imported.files }, given);
        expect(written(redone), shown(both)).toEqual(written(more));
        const renamed = new Map(
          [...two.testCases].map(
            ([id, list]) =>
              [
                id,
                list.map((own) => ({ ...own, description: `New ${own.id}`, externalId: null })),
              ] as const,
          ),
        );
        const { planned } = await plan({ ...both, testCases: renamed });
        expect(planned.plan.changes.filter(({ action }) => action === "create")).toEqual([]);
      },
    ),
    { numRuns: Number(process.env["TASC_LAW_RUNS"] ?? 60) },
  );
  // The test only proves something if enough runs merged two stages.
  expect(together).toBeGreaterThan(10);
});

test("the order in which the service lists resources does not matter", async () => {
  await fc.assert(
    fc.asyncProperty(service, async ({ targets, testCases }) => {
      const forwards = await prepared(emptyProject(targets, testCases));
      const backwards = await prepared(
        emptyProject(
          targets
            .toReversed()
            .map((one) => ({ ...one, environments: one.environments.toReversed() })),
          new Map([...testCases].map(([id, list]) => [id, list.toReversed()])),
        ),
      );
      expect(backwards.files).toEqual(forwards.files);
    }),
    { numRuns: 60 },
  );
});

test("3 targets with 500 test cases each are imported in less than 4 seconds", async () => {
  const targets = [0, 1, 2].map((t) => ({ id: idOf(1, t), app: `App ${t}`, environments: [] }));
  const testCases = new Map(
    targets.map(({ id }, t) => [
      id,
      Array.from({ length: 500 }, (_, n) => ({
        id: idOf(3, t * 1000 + n),
        description: `Case ${n % 400}`,
        status: "ENABLED",
        runStatus: "ON",
        type: null,
        entryPointUrlPath: "/x",
        folderId: idOf(9, n % 7),
        externalId: n % 3 === 0 ? `X-${n}` : null,
        tags: ["a", "b"],
        prerequisiteId: n > 0 ? idOf(3, t * 1000 + n - 1) : null,
        elements: [],
        discovery: {
          status: "CREATED",
          freePrompt: "Do it.\nThen check.",
          abortCause: undefined,
          message: undefined,
        },
      })),
    ]),
  );
  const before = emptyProject(targets, testCases);
  const started = process.cpuUsage();
  const first = await prepared(before);
  expect(process.cpuUsage(started).user).toBeLessThan(4_000_000);
  const imported = after(before, first);
  await expectEmptyPlan(imported);
  const { input } = await plan(imported);
  expect(input.desired.targets.flatMap(resourcesOf)).toHaveLength(1503);
});
