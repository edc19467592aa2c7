import { compareText } from "../model/address.ts";
import type { Origin, Severity } from "../model/diagnostic.ts";
import { globTest } from "../model/glob.ts";
import { type ManifestProblem, didYouMean, listWords, nearest } from "./problem.ts";
import { SENSITIVE } from "../model/value.ts";
import type { Scalar } from "./shape.ts";
import { type Placeholder, isTemplate, parseTemplate } from "./template.ts";

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/**
 * The result of reading `${file:…}`: the file's text without one trailing newline, or why it cannot
 * be read.
 */
export type TextFile =
  | { readonly text: string; readonly own?: boolean }
  | { readonly fault: string; readonly missing?: boolean };

/** An entry of `vars`, as written in the document. */
export type Variable = { readonly value: Scalar; readonly origin: Origin };

interface InterpolationSources {
  readonly stage: string;
  readonly env: EnvironmentVariables;
  readonly files: ReadonlyMap<string, TextFile>;
  readonly vars: ReadonlyMap<string, Variable>;
  /** If true, a missing secret is unknown and a warning; otherwise it is an error. */
  readonly allowMissingSecrets: boolean;
  /** Names or globs of the environment variables that may be read; unset: all of them. */
  readonly readable?: readonly string[] | undefined;
}

/** A template with its placeholders filled in for one stage. */
export interface Interpolated {
  /** Meaningless if there is an error, or if the value is unknown. */
  readonly value: Scalar;
  /** Whether it contains a secret, so that all of it must be hidden. */
  readonly sensitive: boolean;
  /**
   * Whether the value is not known, because of an error, or of a missing secret that is allowed to
   * be missing.
   */
  readonly unknown: boolean;
  /** Whether it consists only of secrets and files, so that it may be a password. */
  readonly guarded: boolean;
  readonly problems: readonly InterpolationProblem[];
  /** The texts of its secrets and files. If the whole must not show, none of them may. */
  readonly pieces: readonly string[];
  /** The text with `(sensitive)` in place of secrets, files and environment variables. */
  readonly literal: string;
}

/**
 * `within` is the faulty placeholder; `origin` is its place, if that is a variable and not the
 * template itself.
 */
type InterpolationProblem = Pick<ManifestProblem, "severity" | "code" | "summary" | "detail"> & {
  readonly within: string;
  readonly origin?: Origin;
};

/** Fills in templates for one stage, each only once, however many resources share it. */
export class Interpolator {
  readonly #sources: InterpolationSources;
  readonly #isReadable: (name: string) => boolean;
  /** All texts found so far that must not show. */
  readonly secrets = new Set<string>();
  /** Placeholders, as written, of secrets that are not set and of files that do not exist. */
  readonly #missing = new Set<string>();
  /**
   * Total characters of all texts filled in, and number of names compared with unknown variables.
   * Both are limited.
   */
  #length = 0;
  #guesses = 0;
  readonly #filled = new Map<string, Interpolated>();
  readonly #variables = new Map<string, Interpolated>();
  readonly #pending: string[] = [];

  constructor(sources: InterpolationSources) {
    this.#sources = sources;
    const tests = sources.readable?.map((glob) => globTest(glob));
    this.#isReadable = (name) => tests === undefined || tests.some((test) => test(name));
    // A secret that the manifests no longer use must not show either, because the service may still
    // repeat it.
    for (const [name, value = ""] of tests === undefined ? [] : Object.entries(sources.env))
      if (CREDENTIAL.test(name) && this.#isReadable(name) && UNMISTAKABLE.test(value))
        this.protect(value);
  }

  variable(name: string): string | undefined {
    const value = this.#sources.vars.get(name)?.value;
    return value === undefined ? undefined : String(value);
  }

  /** Whether a text has no value for the sole reason that secrets or files of it are missing. */
  isMissing(text: string): boolean {
    const { problems } = this.fill(text);
    return problems.length > 0 && problems.every(({ within }) => this.#missing.has(within));
  }

  /** Adds a text that must not show, with and without the white space around it. */
  protect(text: string): void {
    this.secrets.add(text).add(text.trim());
  }

  fill(text: string): Interpolated {
    if (!isTemplate(text)) return plain(text);
    const known = this.#filled.get(text);
    if (known !== undefined) return known;
    const filled = this.#fillTemplate(text);
    if (filled.sensitive && !filled.unknown) this.protect(String(filled.value));
    this.#filled.set(text, filled);
    return filled;
  }

  /**
   * Does not report malformed placeholders: the check of documents reports them, for all stages at
   * once.
   */
  #fillTemplate(text: string): Interpolated {
    const { parts, faults } = parseTemplate(text);
    const pieces = parts.map((part) =>
      part.kind === "text" ? plain(part.text) : this.#placeholder(part),
    );
    const filled = join(pieces, faults.length > 0);
    this.#length += String(filled.value).length;
    if (this.#length <= LONGEST_TOGETHER) return filled;
    const detail = `All interpolated texts of a stage have at most ${LONGEST_TOGETHER} characters.`;
    return failed("too-long", "The interpolated texts are too long", detail, "");
  }

  #placeholder(part: Placeholder): Interpolated {
    if (part.kind === "stage") return plain(this.#sources.stage);
    if (part.kind === "file") return this.#file(part);
    if (part.kind === "var") return this.#variable(part);
    const { name, source } = part;
    if (this.#isReadable(name)) return part.kind === "env" ? this.#env(part) : this.#secret(part);
    const summary = `The trust file does not allow the variable ${name}`;
    const detail = `\`${source}\` reads it. Only variables that the file lists under \`variables\` can be read in this stage.`;
    return failed("untrusted", summary, detail, source);
  }

  #env({ name, fallback, source }: Placeholder): Interpolated {
    const value = this.#environment(name);
    if (value !== undefined && ADDRESS_WITH_PASSWORD.test(value)) {
      const detail = `\`${source}\` would show it in plans and messages. Write \`\${secret:${name}}\`.`;
      return failed(
        "credential-in-env",
        `The value of ${name} contains a password`,
        detail,
        source,
      );
    }
    const known = value === "" ? (fallback ?? value) : (value ?? fallback);
    if (known !== undefined) return plain(known, SENSITIVE);
    const detail = `\`${source}\` takes its value from it. Set it, or add a fallback: \`\${env:${name}:-…}\`.`;
    return failed("missing-env", `The environment variable ${name} is not set`, detail, source);
  }

  /** An empty secret counts as missing, because pipelines pass missing ones as empty variables. */
  #secret({ name, source }: Placeholder): Interpolated {
    const value = this.#environment(name);
    if (value !== undefined && value !== "") {
      this.protect(value);
      return { ...plain(value, SENSITIVE), sensitive: true, guarded: true, pieces: [value] };
    }
    this.#missing.add(source);
    const summary = `The secret ${name} is ${value === undefined ? "not set" : "empty"}`;
    if (!this.#sources.allowMissingSecrets) {
      const detail = `\`${source}\` takes its value from the environment variable ${name}. Set it.`;
      return failed(MISSING_SECRET, summary, detail, source);
    }
    const detail = `\`${source}\` is treated as unknown. Fields that use it are neither compared nor planned.`;
    return { ...failed(MISSING_SECRET, summary, detail, source, "warning"), sensitive: true };
  }

  /**
   * Returns a file's text. It may be shown, unless it is the value of a secret field or the job has
   * written the file.
   */
  #file({ name: path, source }: Placeholder): Interpolated {
    const file = this.#sources.files.get(path) ?? { fault: "It was not read." };
    if ("text" in file) {
      const { text, own = false } = file;
      if (own) this.protect(text);
      return { ...plain(text, SENSITIVE), sensitive: own, guarded: true, pieces: [text] };
    }
    if (file.missing === true) this.#missing.add(source);
    const detail = `\`${source}\`: ${file.fault}`;
    return failed("unreadable-file", `The file ${path} cannot be used`, detail, source);
  }

  #variable({ name, source }: Placeholder): Interpolated {
    const known = this.#variables.get(name);
    if (known !== undefined) return known;
    const variable = this.#sources.vars.get(name);
    if (variable === undefined) return this.#unknownVariable(name, source);
    if (this.#pending.includes(name)) return this.#circle(name);
    const { value, origin } = variable;
    if (this.#pending.length >= DEEPEST) {
      const summary = `Variables are nested more than ${DEEPEST} levels deep`;
      const detail = `\`${source}\` exceeds the limit. Use a value instead.`;
      return at(origin, failed("var-depth", summary, detail, source));
    }
    this.#pending.push(name);
    const filled = at(origin, typeof value === "string" ? this.fill(value) : plain(value));
    this.#pending.pop();
    // Also inside a circle; otherwise variables that double one another would be resolved again and
    // again.
    this.#variables.set(name, filled);
    return filled;
  }

  #unknownVariable(name: string, source: string): Interpolated {
    const { stage, vars } = this.#sources;
    const names = [...vars.keys()];
    const known = names.length === 0 ? "There are none." : `Known: ${listWords(names, "and")}.`;
    // Each suggestion compares all names, so a project with very many mistakes gets no more
    // suggestions.
    this.#guesses += names.length;
    const guess = this.#guesses > MOST_GUESSES ? undefined : nearest(name, names);
    return failed(
      "unknown-var",
      `Unknown variable \`${name}\` in stage ${stage}`,
      `\`${source}\` refers to an entry of \`vars\` in tasc.yaml, in the project or the stage. ${known}${didYouMean(guess)}`,
      source,
    );
  }

  /**
   * Reports a circle at the same variable wherever it was entered, so that it is reported only
   * once.
   */
  #circle(name: string): Interpolated {
    const circle = fromFirst(this.#pending.slice(this.#pending.indexOf(name)));
    const [first = name, next = name] = circle;
    const detail = `Each of these takes its value from the next: ${circle.join(" → ")}. Set one of them to a value.`;
    const circular = failed("var-cycle", "Circular variables", detail, `\${var:${next}}`);
    return at(this.#sources.vars.get(first)?.origin, circular);
  }

  #environment(name: string): string | undefined {
    const { env } = this.#sources;
    return Object.hasOwn(env, name) ? env[name] : undefined;
  }
}

/** The names of environment variables whose values are obviously secrets. */
export const CREDENTIAL =
  /(?:^|_)(?:KEYS?|TOKENS?|(?:PG)?PASS|PASSWD|PWD|CREDS?|CREDENTIALS?|AUTH|PAT|OTP)(?:_|$)|API_?KEY|PASSW|PASSPHRASE|SECRET/i;
/** Values that do not occur in other texts by chance, unlike plain words. */
export const UNMISTAKABLE = /^(?=.*[^A-Za-z]).{8,}/s;

/**
 * An address with a password, or with a token in its query. The user may be a mail address, and the
 * password may be unescaped. Digits after the host are a port if a query follows, or the path of a
 * web page; only that path may contain @.
 */
const ADDRESS_WITH_PASSWORD =
  /[a-z][a-z\d+.-]{0,30}:\/\/[^\s/:]{0,200}:(?!\d{1,5}(?:(?<=\bhttps?:\S{0,210})\/|(?:\/[^\s@]*)?[?#]))\S{1,1000}@|[?&][\w-]{0,40}(?:token|key|secret|passw(?:or)?d|sig)=(?=[^&\s]{0,200}\d)[^&\s]{8}/i;

/** The code of the problem that a secret is missing, which some commands tolerate. */
export const MISSING_SECRET = "missing-secret";

/** Maximum number of names that are compared with unknown variables. */
const MOST_GUESSES = 20_000;

export const DEEPEST = 100;

/** Maximum characters of one text: enough for any prompt, and a bound on doubling variables. */
export const LONGEST = 1_000_000;

/**
 * Maximum characters of all texts of a stage: a variable of a megabyte in each of them would fill
 * the memory.
 */
const LONGEST_TOGETHER = 100_000_000;

function plain(value: Scalar, literal = String(value)): Interpolated {
  const nothing = { sensitive: false, unknown: false, guarded: false, problems: [], pieces: [] };
  return { value, literal, ...nothing };
}

/**
 * Returns an unknown value with a problem. It is guarded, so that a missing variable is not also a
 * literal password.
 */
function failed(
  code: string,
  summary: string,
  detail: string,
  within: string,
  severity: Severity = "error",
): Interpolated {
  const problems = [{ severity, code, summary, detail, within }];
  return { ...plain(""), unknown: true, guarded: true, problems };
}

/**
 * Joins the pieces of a template. `flawed`: the template also has malformed placeholders, which are
 * reported elsewhere.
 */
function join(pieces: readonly Interpolated[], flawed: boolean): Interpolated {
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1 && !flawed) return only;
  const length = pieces.reduce((sum, { value }) => sum + String(value).length, 0);
  if (length > LONGEST) {
    const detail = `It would have ${length} characters; at most ${LONGEST} are allowed.`;
    return failed("too-long", "The interpolated text is too long", detail, "");
  }
  return {
    value: pieces.map(({ value }) => String(value)).join(""),
    sensitive: pieces.some(({ sensitive }) => sensitive),
    unknown: flawed || pieces.some(({ unknown }) => unknown),
    guarded: flawed || pieces.every(({ guarded }) => guarded),
    // Without duplicates; otherwise variables that double one another would double these too.
    problems: [...new Set(pieces.flatMap(({ problems }) => problems))],
    pieces: [...new Set(pieces.flatMap((piece) => piece.pieces))],
    literal: pieces.map(({ literal }) => literal).join(""),
  };
}

/** Adds a place to the problems of a value that do not have one yet. */
function at(origin: Origin | undefined, filled: Interpolated): Interpolated {
  if (origin === undefined || filled.problems.length === 0) return filled;
  return { ...filled, problems: filled.problems.map((problem) => ({ origin, ...problem })) };
}

/**
 * Returns the circles of a graph with at most one edge per node. Each begins and ends with its
 * first member in order.
 */
export function circlesIn(next: ReadonlyMap<string, string>): readonly (readonly string[])[] {
  const seen = new Set<string>();
  const circles: string[][] = [];
  for (const start of next.keys()) {
    const trail: string[] = [];
    let node: string | undefined = start;
    while (node !== undefined && !seen.has(node)) {
      seen.add(node);
      trail.push(node);
      node = next.get(node);
    }
    const entry = node === undefined ? -1 : trail.indexOf(node);
    if (entry >= 0) circles.push(fromFirst(trail.slice(entry)));
  }
  return circles.toSorted(([a = ""], [b = ""]) => compareText(a, b));
}

/**
 * Rotates a circle so that it begins with its first member in order, and ends with that member
 * again.
 */
function fromFirst(circle: readonly string[]): string[] {
  const [first = ""] = circle.toSorted(compareText);
  const start = circle.indexOf(first);
  return [...circle.slice(start), ...circle.slice(0, start), first];
}
