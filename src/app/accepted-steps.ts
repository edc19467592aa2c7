import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Address, parseAddress } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import { type Diagnostic, fault, oneLine, warning } from "../model/diagnostic.ts";
import { TascError, invalid, isSystemError, refuseAll } from "../model/error.ts";
import type { StepsPolicy } from "../model/settings.ts";
import type { Acceptance } from "../model/steps.ts";
import { fewOf } from "../plan/problem.ts";
import { lazy } from "../plan/match.ts";
import {
  type StepWords,
  acceptanceOf,
  fileText,
  hasOtherKey,
  readFileText,
  stepsIn,
  stepsOf,
} from "../plan/steps.ts";
import type { LiveSteps, StepsReview } from "../plan/input.ts";

/** The folder of the files of accepted steps: `steps/STAGE/TARGET/KEY.txt`. */
export const STEPS_FOLDER = "steps";

/** Returns the path of a test case's file within the project. */
export function stepsFile(stage: string, address: Address): string {
  const { target = "", key = "" } = parseAddress(address) ?? {};
  return `${STEPS_FOLDER}/${stage}/${target}/${key}.txt`;
}

export interface AcceptedSteps extends StepsReview {
  /** Returns the file of a declared test case, under its own or a former key. */
  readonly fileOf: (address: Address) => string | undefined;
  /** Files of test cases that the manifests do not declare. */
  readonly strays: readonly string[];
  /** What to warn of; of fingerprints under another key only after the steps were compared. */
  readonly warnings: readonly Diagnostic[];
  /** @throws TascError with all files that are broken */
  readonly check: () => void;
  readonly words: StepWords;
}

/** What `readAcceptedSteps` needs. */
export interface AcceptedRequest {
  readonly root: string;
  readonly desired: Desired;
  readonly stages: readonly string[];
  readonly mode: Exclude<StepsPolicy, "off">;
  readonly words: StepWords;
  /** Whether the live steps are needed, too. */
  readonly keep: boolean;
}

/**
 * Reads the files of accepted steps of a stage. A file whose steps are the live ones is only
 * compared as text, and a file is parsed when its steps differ.
 * @throws TascError if a file stands beside declared `elements`; and from `of`, if a file is broken
 */
export function readAcceptedSteps(request: AcceptedRequest): AcceptedSteps {
  const { root, desired, mode, words, keep } = request;
  const { stage } = desired;
  const folder = `${STEPS_FOLDER}/${stage}`;
  // The address under which steps were accepted. 10,000 paths would be kept to the end of a plan.
  const places = new Map<Address, Address>();
  const faults: Diagnostic[] = [];
  const left = listFiles(root, folder);
  const take = (target: string, key: string): boolean =>
    left.get(target)?.delete(`${key}.txt`) === true;
  for (const target of left.size === 0 ? [] : desired.targets) {
    const former = new Map(target.moved.map(({ from, to }) => [to, from]));
    for (const { address, key, fields } of target.testCases) {
      const place = take(target.key, key) ? address : formerPlace(address, former, take);
      if (place === undefined) continue;
      if (fields["elements"] === undefined) places.set(address, place);
      else faults.push(besideElements(address, stepsFile(stage, place)));
    }
  }
  refuseAll(faults);
  // All broken files are reported at once, as all mistakes of manifests are.
  const check = lazy(() => {
    const read = (file: string): string => readText(root, file);
    const broken = [...places.values()].flatMap((place) => {
      const file = stepsFile(stage, place);
      return brokenFile(file, read(file)) ?? [];
    });
    if (broken.length > 0) throw new TascError("invalid", broken, read);
    return {};
  });
  const strays = pathsOf(folder, left);
  const ofOtherKey = new Set<string>();
  const openly = stepsIn({ isSecret: () => false, fingerprints: words.fingerprints });
  return {
    mode,
    words,
    fileOf: (address) => {
      const place = places.get(address);
      return place && stepsFile(stage, place);
    },
    strays,
    get warnings() {
      return [...strayWarnings(request, strays), ...otherKeyWarning([...ofOtherKey])];
    },
    check,
    isKnown: (address) => places.has(address),
    of: (address, live) => {
      const found = compare(address, live);
      return keep ? { ...found, steps: stepsOf(live, words) } : found;
    },
  };

  function compare(address: Address, live: LiveSteps): Acceptance {
    const place = places.get(address);
    if (place === undefined) return acceptanceOf(undefined, live, words);
    const file = stepsFile(stage, place);
    const text = readText(root, file);
    if (text === fileText(place, openly(live))) return ACCEPTED;
    check();
    if (hasOtherKey(text, words)) ofOtherKey.add(file);
    const found = readFileText(text);
    return acceptanceOf("steps" in found ? found.steps : undefined, live, words);
  }
}

const ACCEPTED: Acceptance = { state: "accepted", differences: [] };

/** Returns the former address whose file counts until it is moved, and takes that file. */
function formerPlace(
  address: Address,
  former: ReadonlyMap<Address, Address>,
  take: (target: string, key: string) => boolean,
): Address | undefined {
  const tried = new Set([address]);
  for (let at = former.get(address); at !== undefined && !tried.has(at); at = former.get(at)) {
    const { target = "", key = "" } = parseAddress(at) ?? {};
    if (take(target, key)) return at;
    tried.add(at);
  }
  return undefined;
}

/** Returns the files of accepted steps of a stage. */
export function stepsFilesOf(root: string, stage: string): readonly string[] {
  const folder = `${STEPS_FOLDER}/${stage}`;
  return pathsOf(folder, listFiles(root, folder));
}

/** The names of files by folder: paths of 10,000 files would take longer than reading the names. */
type Listed = ReadonlyMap<string, Set<string>>;

function listFiles(root: string, folder: string): Listed {
  const files = namesIn(root, folder).map((target) => {
    const names = namesIn(root, `${folder}/${target}`);
    return [target, new Set(names.filter((name) => name.endsWith(".txt")))] as const;
  });
  return new Map(files);
}

function pathsOf(folder: string, listed: Listed): readonly string[] {
  return [...listed]
    .flatMap(([target, names]) => Array.from(names, (name) => `${folder}/${target}/${name}`))
    .toSorted();
}

function namesIn(root: string, folder: string): readonly string[] {
  try {
    return readdirSync(join(root, folder)).filter((name) => !name.startsWith("."));
  } catch (error) {
    if (isSystemError(error) && (error.code === "ENOENT" || error.code === "ENOTDIR")) return [];
    throw unreadable(folder, error);
  }
}

/**
 * Reads a file of the project, with `\n` as line end, whatever git writes on this system.
 * @throws TascError
 */
export function readText(root: string, file: string): string {
  try {
    // `join` would take as long as opening the file.
    const text = readFileSync(`${root}/${file}`, AS_TEXT);
    return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Shared, because Node takes longer to make options from a plain "utf8". */
const AS_TEXT = { encoding: "utf8", flag: "r" } as const;

function unreadable(place: string, error: unknown): unknown {
  if (!isSystemError(error)) return error;
  const detail = `It cannot be read (${error.code}). Accepted steps are plain files in ${STEPS_FOLDER}/.`;
  return invalid("steps-file", `${place} cannot be read`, detail);
}

function brokenFile(file: string, text: string): Diagnostic | undefined {
  const found = readFileText(text);
  if ("steps" in found) return undefined;
  return {
    ...fault(
      "steps-file",
      `Cannot read accepted steps: ${found.why}`,
      "Only `tasc steps accept` writes these files. Restore it from git, or resolve the conflict by accepting again: delete the file and run\ntasc steps accept ADDRESS",
    ),
    place: { file, line: found.line, column: 1 },
  };
}

function besideElements(address: Address, file: string): Diagnostic {
  return {
    ...fault(
      "steps-beside-elements",
      `${address} declares elements, and ${file} has accepted steps`,
      "Declared steps are reviewed in the manifest. Remove one of the two: the file, or `elements`.",
    ),
    address,
    place: { file, line: 1, column: 1 },
  };
}

function otherKeyWarning(files: readonly string[]): readonly Diagnostic[] {
  if (files.length === 0) return [];
  return [
    warning(
      "steps-other-key",
      `${files.length} ${files.length === 1 ? "file has" : "files have"} secrets of accepted steps under another key`,
      `${fewOf(files, "\n")}\nTheir fingerprints were made before the key of the fingerprints changed, so a change of these secrets is not seen. Check the steps, and accept them again: tasc steps accept ADDRESS`,
    ),
  ];
}

function strayWarnings(
  { root, desired: { stage }, stages }: AcceptedRequest,
  strays: readonly string[],
): readonly Diagnostic[] {
  const folders = namesIn(root, STEPS_FOLDER).filter((name) => !stages.includes(name));
  return [
    ...(strays.length === 0
      ? []
      : [
          {
            ...warning(
              "steps-without-case",
              `${strays.length} ${strays.length === 1 ? "file has" : "files have"} accepted steps of no declared test case`,
              `${fewOf(strays, "\n")}\nThe next \`tasc steps accept --all --stage ${stage}\` removes them. After a rename, declare \`moved:\`.`,
            ),
            place: { file: strays[0] ?? "", line: 1, column: 1 },
          },
        ]),
    ...folders.map((name) =>
      warning(
        "steps-without-stage",
        `${STEPS_FOLDER}/${oneLine(name)} is of no declared stage`,
        "Rename the folder to a stage of tasc.yaml, or remove it.",
      ),
    ),
  ];
}
