import type { Origin, Severity } from "../../model/diagnostic.ts";
import type { Scalar } from "../shape/convert.ts";

/** What a template comes to in one stage. */
export interface Filled {
  /** Without meaning where there is an error, or where the value is unknown. */
  readonly value: Scalar;
  /** A secret is in it, so that the whole of it must not show. */
  readonly sensitive: boolean;
  /** A secret in it is missing, and may be. */
  readonly unknown: boolean;
  /** Made of secrets and files, and of nothing else: fit for a password. */
  readonly guarded: boolean;
  readonly problems: readonly FillProblem[];
  /** What its placeholders stand for; each must not show where the whole must not. */
  readonly pieces: readonly string[];
}

export interface FillProblem {
  readonly severity: Severity;
  readonly code: string;
  readonly summary: string;
  readonly detail: string;
  /** The placeholder at fault. */
  readonly within: string;
  /** Where that stands, if not in the template itself: the definition of a variable. */
  readonly origin?: Origin;
}

/** Code of the problem that a secret is not there; some commands can do without. */
export const MISSING_SECRET = "missing-secret";

/** Code of the problem that variables go in a circle. */
export const CIRCULAR = "var-cycle";

/** Room for any prompt, and a bound on variables that double one another. */
const LONGEST = 1_000_000;

const NOTHING: Filled = {
  value: "",
  sensitive: false,
  unknown: true,
  guarded: false,
  problems: [],
  pieces: [],
};

/** A value that may show. */
export function plain(value: Scalar): Filled {
  return { ...NOTHING, value, unknown: false };
}

/** What a secret holds. */
export function hidden(value: string): Filled {
  return { ...NOTHING, value, sensitive: true, unknown: false, guarded: true, pieces: [value] };
}

/** What a file holds: it may show, unless it stands where a secret belongs. */
export function fromFile(text: string): Filled {
  return { ...NOTHING, value: text, unknown: false, guarded: true, pieces: [text] };
}

/** A secret that is missing, and may be. */
export function withheld(problem: Omit<FillProblem, "severity">): Filled {
  return { ...NOTHING, sensitive: true, guarded: true, problems: [{ severity: "warning", ...problem }] };
}

/** What cannot be had. It counts as guarded, so that a missing variable is not told as a literal password, too. */
export function failed(problem: Omit<FillProblem, "severity">): Filled {
  return { ...NOTHING, guarded: true, problems: [{ severity: "error", ...problem }] };
}

/** The pieces of a template in one. `flawed`: there is more to it, which was told of before. */
export function join(pieces: readonly Filled[], flawed: boolean): Filled {
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1 && !flawed) return only;
  const length = pieces.reduce((sum, { value }) => sum + String(value).length, 0);
  if (length > LONGEST) return tooLong(length);
  return {
    value: pieces.map(({ value }) => String(value)).join(""),
    sensitive: pieces.some(({ sensitive }) => sensitive),
    unknown: flawed || pieces.some(({ unknown }) => unknown),
    guarded: flawed || pieces.every(({ guarded }) => guarded),
    // Each once, or variables that double one another would double these too.
    problems: [...new Set(pieces.flatMap(({ problems }) => problems))],
    pieces: [...new Set(pieces.flatMap((piece) => piece.pieces))],
  };
}

function tooLong(length: number): Filled {
  return failed({
    code: "too-long",
    summary: "The text grows too long",
    detail: `With its placeholders filled in it would have ${length} characters; at most ${LONGEST} are allowed.`,
    within: "",
  });
}

/** What was met in the middle of a circle depends on where the circle was entered, and is no result. */
export function isCircular({ problems }: Filled): boolean {
  return problems.some(({ code }) => code === CIRCULAR);
}

/** The same with its problems at a place, unless they are those of a place further in. */
export function at(origin: Origin, filled: Filled): Filled {
  const placed = (problem: FillProblem): FillProblem =>
    problem.origin === undefined ? { ...problem, origin } : problem;
  return filled.problems.length === 0 ? filled : { ...filled, problems: filled.problems.map(placed) };
}
