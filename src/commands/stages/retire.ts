import { readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { STEPS_FOLDER, stepsFilesOf } from "../../app/accepted-steps.ts";
import { type ProjectOptions, readFolder } from "../../app/project.ts";
import { type Session, withSession } from "../../app/session.ts";
import { writeTexts } from "../../edit/edit-files.ts";
import { type Retirement, retire } from "../../edit/retire.ts";
import { refuseLinks } from "../../files/output.ts";
import { didYouMean, nearest } from "../../manifest/problem.ts";
import { stagesInWords, stagesOf } from "../../manifest/stages.ts";
import { readSlow } from "../../manifest/yaml/read-slow.ts";
import { failed, invalid } from "../../model/error.ts";
import { isObject, valueAt } from "../../model/json.ts";
import { count } from "../../model/words.ts";
import type { View } from "../../render/view.ts";
import { knownAddresses } from "../../state/edit.ts";
import { fileName } from "../../state/files.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { STATE_NEEDS } from "../in-project.ts";
import { argument, flag } from "../options.ts";
import { STATE_EDIT } from "../shared-options.ts";
import { withDocuments } from "../state/documents.ts";

const OPTIONS = {
  name: argument("<stage>", "stage to take out of the manifests and of state"),
  autoApprove: flag("--auto-approve", "skip the confirmation"),
  dryRun: flag("--dry-run", "show what would be removed, and write nothing"),
  ...STATE_EDIT,
};

export const command = defineCommand({
  group: "Stages",
  summary: "take a stage out of the manifests and of state",
  examples: {
    "tasc stages retire preview --dry-run": "show what would be removed",
    "tasc stages retire preview": "remove it after a confirmation; then review the git diff",
  },
  options: OPTIONS,
  run: retireStage,
});

async function retireStage(options: OptionsOf<typeof OPTIONS>, { host }: Context): Promise<View> {
  const { name } = options;
  const { reading } = await readFolder(options, host);
  const stages = reading.project === undefined ? [name] : stagesOf(reading.project);
  if (!stages.includes(name))
    throw invalid(
      "bad-stages",
      `There is no stage ${name}`,
      `${stagesInWords(stages)}${didYouMean(nearest(name, stages))}`,
    );
  const inStage: ProjectOptions = { ...options, stage: name };
  return withSession(inStage, host, (session) => retireIn(session, options), STATE_NEEDS);
}

async function retireIn(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const { name, dryRun } = options;
  const { host, root } = session;
  const { folder, reading } = await readFolder(options, host);
  const { project } = reading;
  if (project === undefined) throw new TypeError("a project that was read before");
  const retirement = await retire({ ...reading, project }, name, stagesOf(project), folder);
  const { backend } = await session.states();
  const targets = await backend.list(name);
  const states = await session.readStates(targets);
  const known = [...states.values()].flatMap(knownAddresses);
  const steps = stepsFilesOf(root, name);
  const trust = trustFilesNaming(session, name);
  const facts = { ...retirement, stage: name, targets, known: known.length, steps, trust };
  const lines = linesOf(facts);
  if (!dryRun) {
    if (!options.autoApprove) await askToRetire(session, name, lines);
    await withDocuments(session, targets, "tasc stages retire", options, async (...documents) => {
      writeTexts(root, retirement.texts);
      for (const file of [...retirement.emptied, ...steps]) remove(root, file);
      if (steps.length > 0) remove(root, `${STEPS_FOLDER}/${name}`);
      remove(root, `.tasc/backend/${fileName(name)}.json`);
      for (const { stored, remove: forget } of documents)
        // One after another: if one fails, the others are still known.
        // oxlint-disable-next-line no-await-in-loop
        if (stored !== undefined) await forget();
    });
  }
  const { texts, emptied, gone } = retirement;
  return {
    json: {
      stage: name,
      written: !dryRun,
      files: [
        ...texts.map(({ file }) => ({ file, change: "edited" })),
        ...emptied.map((file) => ({ file, change: "removed" })),
      ],
      gone,
      state: { targets, addresses: known.length },
      steps,
      notEdited: trust,
    },
    text: [
      lines,
      [
        dryRun
          ? `Would retire stage ${name}; nothing was written`
          : `Stage ${name} is retired. Nothing changed on the service.`,
        ...(dryRun ? [] : ["Next: review the change with `git diff`, and commit it."]),
      ],
    ],
  };
}

interface Facts extends Retirement {
  readonly stage: string;
  readonly targets: readonly string[];
  /** The number of addresses that state knows. */
  readonly known: number;
  readonly steps: readonly string[];
  readonly trust: readonly string[];
}

function linesOf({
  texts,
  emptied,
  gone,
  targets,
  known,
  steps,
  trust,
  stage,
}: Facts): readonly string[] {
  return [
    ...texts.map(({ file }) => `~ ${file}`),
    ...emptied.map((file) => `- ${file}  (nothing else is in it)`),
    ...gone.map((address) => `- ${address}  (only ${stage} has it)`),
    ...steps.map((file) => `- ${file}`),
    ...(targets.length === 0
      ? []
      : [
          `- state of ${count(targets.length, "target")} with ${count(known, "address", "addresses")}; the history of applies is kept`,
        ]),
    ...trust.map((file) => `! ${file} still names the stage: remove \`stages.${stage}\` there`),
  ];
}

/** @throws TascError unless the answer is yes */
async function askToRetire(
  { host: { ask } }: Session,
  stage: string,
  lines: readonly string[],
): Promise<void> {
  const ways = `To retire it without a question:\ntasc stages retire ${stage} --auto-approve`;
  if (ask === undefined)
    throw failed(
      "no-terminal",
      "Cannot ask for confirmation: no terminal",
      `Nothing was written. ${ways}`,
    );
  const prompt = `\nRetire stage ${stage}? Its resources stay on the service.\nType "yes" to retire it: `;
  const answers = await ask([{ id: "retire", text: `${lines.join("\n")}\n`, prompt }]);
  if (answers.get("retire") !== "yes")
    throw failed(
      "not-approved",
      "Nothing was written",
      `Type the full word "yes" to confirm. ${ways}`,
    );
}

/** Removes a file or an empty folder of the project, if it is there; never through a link. */
function remove(root: string, file: string): void {
  const path = join(root, file);
  refuseLinks(path, root, true);
  rmSync(path, { force: true, recursive: true });
}

/** Returns the trust files that have settings for a stage: people who may not edit it edit manifests. */
function trustFilesNaming({ root, env }: Session, stage: string): readonly string[] {
  const { TASC_TRUST: given } = env;
  return [...new Set(["tasc-trust.yaml", ...(given ? [given] : [])])].filter((file) => {
    const reading = readSlow(textOf(resolve(root, file)));
    return (
      reading.ok &&
      isObject(reading.value) &&
      valueAt(reading.value, ["stages", stage]) !== undefined
    );
  });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
