import type { Field } from "../fields/field.ts";
import type { Desired } from "../model/desired.ts";
import type { Json } from "../model/json.ts";
import type { ProjectReading } from "../manifest/read-project.ts";
import { resolveValue } from "../manifest/resolve-value.ts";
import { settingsLayers } from "../manifest/settings/layers.ts";
import { variablesOf } from "../manifest/settings/variables.ts";
import { Filler } from "../manifest/template/fill.ts";
import type { Environment, Surroundings } from "../manifest/template/surroundings.ts";
import type { Document } from "../manifest/document.ts";
import { spell } from "./meaning.ts";
import type { Meaning } from "./meaning.ts";

/** A project in one of its stages, where secrets may be missing: for commands that set stages side by side. */
export class StageView {
  readonly stage: string;
  readonly desired: Desired;
  readonly #surroundings: Surroundings;
  readonly #filler: Filler;

  constructor(
    desired: Desired,
    project: Document,
    { textFiles }: Pick<ProjectReading, "textFiles">,
    env: Environment,
  ) {
    const vars = variablesOf(settingsLayers(project, desired.stage));
    this.stage = desired.stage;
    this.desired = desired;
    this.#surroundings = { stage: this.stage, env, files: textFiles, vars, allowMissingSecrets: true };
    this.#filler = new Filler(this.#surroundings);
  }

  /** What a value would mean in this stage, if it were written for the field. */
  meaningOf(field: Field<never>, written: Json | undefined): Meaning | undefined {
    if (written === undefined) return undefined;
    const value = resolveValue(field, written, field.path, {
      filler: this.#filler,
      originOf: (path) => ({ file: "", path }),
      // The manifests were checked as they stand; a text that does not fit is unknown, and equal to nothing else.
      report: () => undefined,
    });
    return { value, spelt: spell(written, this.#surroundings) };
  }

  /** Texts met so far that must not show. */
  get secrets(): ReadonlySet<string> {
    return this.#filler.secrets;
  }
}
