import { fromFirst } from "../circles.ts";
import { nearest } from "../nearest.ts";
import { didYouMean, listWords } from "../words.ts";
import {
  at,
  CIRCULAR,
  failed,
  fromFile,
  hidden,
  isCircular,
  join,
  MISSING_SECRET,
  plain,
  withheld,
} from "./filled.ts";
import type { Filled } from "./filled.ts";
import { isTemplate, parseTemplate } from "./parse.ts";
import type { Placeholder } from "./parse.ts";
import type { Surroundings } from "./surroundings.ts";

type Of<K extends Placeholder["kind"]> = Placeholder & { readonly kind: K };

/**
 * Fills templates for one stage. The same text always comes to the same, so each is worked out once however many
 * resources share it.
 */
export class Filler {
  readonly #surroundings: Surroundings;
  readonly #filled = new Map<string, Filled>();
  readonly #variables = new Map<string, Filled>();
  /** Variables that are being worked out, outermost first. */
  readonly #pending: string[] = [];
  readonly #secrets = new Set<string>();

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** All texts met so far that must not show. */
  get secrets(): ReadonlySet<string> {
    return this.#secrets;
  }

  /** Notes a text that must not show, with and without white space around it. */
  protect(text: string): void {
    this.#secrets.add(text).add(text.trim());
  }

  fill(text: string): Filled {
    if (!isTemplate(text)) return plain(text);
    const known = this.#filled.get(text);
    if (known !== undefined) return known;
    const filled = this.#fillTemplate(text);
    if (filled.sensitive && !filled.unknown) this.protect(String(filled.value));
    if (!isCircular(filled)) this.#filled.set(text, filled);
    return filled;
  }

  /** Malformed placeholders are told of when documents are checked, for all stages at once. */
  #fillTemplate(text: string): Filled {
    const { parts, faults } = parseTemplate(text);
    const pieces = parts.map((part) => (part.kind === "text" ? plain(part.text) : this.#placeholder(part)));
    return join(pieces, faults.length > 0);
  }

  #placeholder(part: Placeholder): Filled {
    switch (part.kind) {
      case "stage":
        return plain(this.#surroundings.stage);
      case "env":
        return this.#env(part);
      case "secret":
        return this.#secret(part);
      case "file":
        return this.#file(part);
      case "var":
        return this.#variable(part);
    }
  }

  #env({ name, fallback, source }: Of<"env">): Filled {
    const value = this.#environment(name);
    if (value !== undefined && (value !== "" || fallback === undefined)) return plain(value);
    if (fallback !== undefined) return plain(fallback);
    return failed({
      code: "missing-env",
      summary: `The environment variable ${name} is not set`,
      detail: `\`${source}\` takes its value from it. Set it, or give a fallback: \`\${env:${name}:-…}\`.`,
      within: source,
    });
  }

  /** Pipelines hand over a missing secret as an empty one. */
  #secret({ name, source }: Of<"secret">): Filled {
    const value = this.#environment(name);
    if (value === undefined || value === "") return this.#missingSecret(name, source, value);
    this.protect(value);
    return hidden(value);
  }

  #missingSecret(name: string, source: string, value: "" | undefined): Filled {
    const { allowMissingSecrets } = this.#surroundings;
    const problem = {
      code: MISSING_SECRET,
      summary: `The secret ${name} is ${value === undefined ? "not set" : "empty"}`,
      detail: allowMissingSecrets
        ? `\`${source}\` is taken as unknown: what it goes into is neither compared nor planned.`
        : `\`${source}\` takes its value from the environment variable ${name}. Set it.`,
      within: source,
    };
    return allowMissingSecrets ? withheld(problem) : failed(problem);
  }

  #file({ path, source }: Of<"file">): Filled {
    const file = this.#surroundings.files.get(path) ?? { ok: false, reason: "It was not read." };
    if (file.ok) return fromFile(file.text);
    return failed({
      code: "unreadable-file",
      summary: `The file ${path} cannot be used`,
      detail: `\`${source}\`: ${file.reason}`,
      within: source,
    });
  }

  #variable({ name, source }: Of<"var">): Filled {
    const known = this.#variables.get(name);
    if (known !== undefined) return known;
    const variable = this.#surroundings.vars.get(name);
    if (variable === undefined) return this.#unknownVariable(name, source);
    if (this.#pending.includes(name)) return this.#circle(name);
    this.#pending.push(name);
    const { value, origin } = variable;
    const filled = at(origin, typeof value === "string" ? this.fill(value) : plain(value));
    this.#pending.pop();
    if (!isCircular(filled)) this.#variables.set(name, filled);
    return filled;
  }

  #unknownVariable(name: string, source: string): Filled {
    const { stage, vars } = this.#surroundings;
    const names = [...vars.keys()];
    const known = names.length === 0 ? "There are none." : `Known: ${listWords(names, "and")}.`;
    return failed({
      code: "unknown-var",
      summary: `There is no variable \`${name}\` in stage ${stage}`,
      detail: `\`${source}\` names an entry of \`vars\` in tasc.yaml, of the project or of the stage. ${known}${didYouMean(nearest(name, names))}`,
      within: source,
    });
  }

  /** Told from the same variable whichever one it was entered by, so that it is told once. */
  #circle(name: string): Filled {
    const circle = fromFirst(this.#pending.slice(this.#pending.indexOf(name)));
    const [first = name, next = name] = circle;
    const circular = failed({
      code: CIRCULAR,
      summary: "The variables go in a circle",
      detail: `Each of these takes its value from the next: ${circle.join(" → ")}. Give one of them a value of its own.`,
      within: `\${var:${next}}`,
    });
    const origin = this.#surroundings.vars.get(first)?.origin;
    return origin === undefined ? circular : at(origin, circular);
  }

  #environment(name: string): string | undefined {
    const { env } = this.#surroundings;
    return Object.hasOwn(env, name) ? env[name] : undefined;
  }
}
