// For random layers: after a promotion the stages agree except for the values that it reports as
// left, other stages resolve to the same values as before, and every comment is kept.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { editTexts, makeTexts } from "../../src/edit/edit-files.ts";
import { Manifests, changedFields } from "../../src/edit/manifests.ts";
import { patchOf } from "../../src/edit/patch.ts";
import { promote, provePromotion } from "../../src/edit/promote.ts";
import { changeKey } from "../../src/edit/rewrite.ts";
import { StageView, diffStages } from "../../src/inspect/stages.ts";
import { hasErrors } from "../../src/manifest/problem.ts";
import { type ProjectReading, readProject, resolveProject } from "../../src/manifest/load.ts";
import { editYaml } from "../../src/manifest/yaml/edit.ts";
import { type Json, type Path, isObject } from "../../src/model/json.ts";
import { memoryFolder } from "../manifest/memory-folder.ts";
import { CASES, FILES, TEXTS, comments } from "../rewrite/rich.ts";
import { project as randomProject } from "../rewrite/random-project.ts";
import { strayLines } from "../rewrite/touched.ts";

const SHOP = "targets/shop.yaml";
const STAGES = ["a", "b", "c"];

const text = fc.constantFrom(
  ...TEXTS.filter((one) => !one.includes("${HOME}")),
  "on ${stage}",
  "${var:where}",
  "$${literal}",
);
const field: fc.Arbitrary<readonly [Path, Json]> = fc.oneof(
  fc.tuple(fc.constant(["status"]), fc.constantFrom("ENABLED", "DISABLED", "DRAFT")),
  fc.tuple(fc.constant(["runStatus"]), fc.constantFrom("ON", "OFF")),
  fc.tuple(fc.constant(["tags"]), fc.uniqueArray(text, { maxLength: 3 })),
  fc.tuple(fc.constant(["folder"]), fc.option(text)),
  fc.tuple(fc.constant(["entryPointUrlPath"]), fc.option(text)),
  fc.tuple(
    fc.constant(["discovery", "prompt"]),
    fc.oneof(text, fc.constant("As ${secret:WHO} ${var:where}")),
  ),
  fc.tuple(
    fc.constant(["elements"]),
    fc.array(
      fc.record({
        interaction: fc.record({ action: fc.constant("CLICK"), calledWith: text }),
      }),
      { maxLength: 2 },
    ),
  ),
);
const layer: fc.Arbitrary<Path> = fc.oneof(
  fc.constantFrom<Path[]>(["defaults", "testCases"]),
  fc.constantFrom(...STAGES).map((stage) => ["stages", stage, "defaults", "testCases"]),
  fc.constantFrom(...CASES.slice(0, 4)).map((key) => ["testCases", key]),
  fc
    .tuple(fc.constantFrom(...STAGES), fc.constantFrom(...CASES.slice(0, 4)))
    .map(([stage, key]) => ["stages", stage, "testCases", key]),
);
const declared = fc.array(fc.tuple(layer, field), { maxLength: 12 });

async function reading(files: Readonly<Record<string, string>>): Promise<ProjectReading> {
  const read = await readProject(memoryFolder(files));
  if (hasErrors(read.problems)) throw new Error(JSON.stringify(read.problems, null, 1));
  return read;
}

function sourcesOf({ project, documents }: ProjectReading) {
  if (project === undefined) throw new Error("there should be a tasc.yaml");
  return { project, documents };
}

const manifestsOf = (read: ProjectReading): Manifests => new Manifests(sourcesOf(read));

function viewOf(read: ProjectReading, stage: string): StageView {
  const options = { env: {}, allowMissingSecrets: true, needsApiKey: false };
  const { resolved, problems } = resolveProject(read, { ...options, stage });
  if (resolved === undefined || read.project === undefined || hasErrors(problems))
    throw new Error(JSON.stringify(problems, null, 1));
  return new StageView(resolved.desired, read.project, read, {});
}

function requestOf(read: ProjectReading, from: string, to: string) {
  return {
    from: viewOf(read, from),
    to: viewOf(read, to),
    stages: STAGES,
    inScope: () => true,
    reading: read,
    env: {},
    ...sourcesOf(read),
  };
}

test("after a promotion the stages agree, and other stages are unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(
      declared,
      fc.constantFrom("\n", "\r\n"),
      fc.shuffledSubarray(STAGES, { minLength: 2, maxLength: 2 }),
      async (made, end, [from = "a", to = "b"]) => {
        const shop = editYaml(
          (FILES[SHOP] ?? "").replaceAll("\n", end),
          made.map(([path, [inner, value]]) => ({ kind: "set", path: [...path, ...inner], value })),
        );
        fc.pre(shop.ok);
        const files = { ...FILES, [SHOP]: shop.ok ? shop.text : "" };
        const read = await reading(files);
        const request = requestOf(read, from, to);
        const result = promote(request);
        const texts = await editTexts(read.documents, result.edits);
        if ("reason" in texts) throw new Error(`${texts.file}: ${texts.reason}`);
        const after: Record<string, string> = { ...files };
        for (const one of texts) {
          after[one.file] = one.after;
          expect(strayLines(one, result.edits)).toEqual([]);
        }
        const now = await reading(after);
        const left = new Set(
          result.left.map(({ address, path }) => JSON.stringify([address, path])),
        );
        const open = diffStages(
          viewOf(now, from),
          viewOf(now, to),
          "promoted",
          () => true,
        ).differences.filter(({ address, path }) => !left.has(JSON.stringify([address, path])));
        expect(open).toEqual([]);
        for (const { reason, path } of result.left)
          expect(`${path?.join(".")} ${reason}`).toMatch(
            /discovery.prompt It contains a secret|it from `defaults`/,
          );
        const others = STAGES.filter((stage) => stage !== to);
        expect(changedFields(manifestsOf(read), manifestsOf(now), others)).toEqual([]);
        const proof = { ...request, folder: memoryFolder(files) };
        expect(await provePromotion(texts, result, proof)).toBeUndefined();
        const goes = result.edits.some(({ edit }) => edit.kind === "delete");
        const lost = comments(files[SHOP] ?? "").filter(
          (one) => !comments(after[SHOP] ?? "").includes(one),
        );
        if (!goes) expect(lost.filter((one) => !IN_LISTS.has(one))).toEqual([]);
      },
    ),
    { numRuns: 15 },
  );
});

const IN_LISTS = new Set(["c14", "c15", "c16", "c17", "c20", "c21", "c22", "c23", "c24", "c25"]);

const RUNS = Number(process.env["TASC_LAW_RUNS"] ?? 20);

/** Every value of a document that is not a map, by its path. */
function leavesOf(value: Json, path: string): readonly (readonly [string, string])[] {
  if (!isObject(value)) return [[path, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, `${path}/${key}`));
}

test("a promotion edits the fields that it reports, and no other line", async () => {
  await fc.assert(
    fc.asyncProperty(
      randomProject,
      fc.shuffledSubarray(STAGES, { minLength: 2, maxLength: 2 }),
      async (files, [from = "a", to = "b"]) => {
        const read = await reading(files);
        const { documents } = read;
        const request = requestOf(read, from, to);
        const proof = { ...request, folder: memoryFolder(files) };
        const { rewrite, texts } = await makeTexts(
          documents,
          (excluded) => promote(request, excluded),
          (now, result) => provePromotion(now, result, proof),
        );
        const after = {
          ...files,
          ...Object.fromEntries(texts.map((one) => [one.file, one.after])),
        };
        const now = await reading(after);
        const left = new Set(rewrite.left.map(changeKey));
        const { differences, onlyFrom } = diffStages(
          viewOf(now, from),
          viewOf(now, to),
          "promoted",
          () => true,
        );
        expect(onlyFrom.filter(({ address }) => !left.has(changeKey({ address })))).toEqual([]);
        expect(differences.filter((one) => !left.has(changeKey(one)))).toEqual([]);
        const others = STAGES.filter((stage) => stage !== to);
        const manifests = [manifestsOf(read), manifestsOf(now)] as const;
        expect(changedFields(...manifests, others)).toEqual([]);
        const carried = new Set(rewrite.changes.map(changeKey));
        const changed = changedFields(...manifests, [to]);
        expect(
          changed.filter(
            ({ address, field: { path } }) =>
              !carried.has(changeKey({ address, path })) &&
              !carried.has(changeKey({ address, path: ["onlyStages"] })),
          ),
        ).toEqual([]);
        const gone = new Set(
          rewrite.changes
            .filter((one) => one.after === undefined)
            .map(({ path }) => path.join("/")),
        );
        const edited = new Set(rewrite.changes.map(({ path }) => path.join("/")));
        for (const [at, document] of documents.entries()) {
          const was = leavesOf(document.value, "");
          const is = new Map(leavesOf(now.documents[at]?.value ?? {}, ""));
          for (const [path, value] of was) {
            const field =
              /(?:onlyStages|status|runStatus|tags|folder|entryPointUrlPath|prompt|elements)/.exec(
                path.split("/").at(-1) ?? "",
              )?.[0];
            const name = field === "prompt" ? "discovery/prompt" : field;
            // Defaults stay as they are; an override may go that says what is below it.
            expect([path, path.includes("/defaults/") && is.get(path) !== value]).toEqual([
              path,
              false,
            ]);
            const mayGo =
              gone.has(name ?? "") || (edited.has(name ?? "") && path.startsWith("/stages/"));
            if (!is.has(path)) expect([path, mayGo]).toEqual([path, true]);
            else if (is.get(path) !== value)
              expect([path, edited.has(name ?? "")]).toEqual([path, true]);
          }
        }
        // `strayLines` reads only one document per file.
        for (const one of texts.filter(({ before }) => !/^---/m.test(before)))
          expect(strayLines(one, rewrite.edits), patchOf(one)).toEqual([]);
      },
    ),
    { numRuns: RUNS },
  );
}, 600_000);
