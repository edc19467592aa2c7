import type { Document } from "../../manifest/document.ts";
import type { ProjectFolder } from "../../manifest/files.ts";
import type { ProjectReading, ResolveOptions } from "../../manifest/load.ts";
import type { Desired } from "../../model/desired.ts";
import type { LiveTarget } from "../../model/live.ts";
import type { State } from "../../model/state.ts";
import type { PlanInput } from "../../plan/input.ts";
import type { DeclareOptions } from "../declare.ts";

/** What an import reads. */
export interface ImportSources {
  readonly reading: ProjectReading & { readonly project: Document };
  readonly resolve: ResolveOptions;
  readonly stages: readonly string[];
  /** The declared resources of the imported stage. */
  readonly desired: Desired;
  /** All states of the stage, by target key. */
  readonly states: ReadonlyMap<string, State>;
  /** The rest of a plan's input. */
  readonly base: Omit<PlanInput, "desired" | "states" | "strays">;
  /** The targets to import. */
  readonly chosen: readonly LiveTarget[];
}

/** What an import reads, and what the user chose. */
export interface ImportRequest
  extends ImportSources, Pick<DeclareOptions, "elements" | "holdsSecret"> {
  readonly folder: ProjectFolder;
  /**
   * Folder for manifests, relative to the project's folder; empty for the project's folder itself.
   */
  readonly dir: string;
  /**
   * Who asks for a layout gets new files. By default, resources go next to their neighbours, and a
   * new target with many test cases in several folders gets a file per folder.
   */
  readonly layout: Layout | undefined;
  /** The targets of other stages that the live ones correspond to. */
  readonly pairs: Pairs;
  /** Keys of new targets. */
  readonly into?: Pairs;
  /** Names folders; called once, when the new test cases are known. */
  readonly nameFolders: (folders: readonly Folder[]) => Promise<readonly Folder[]>;
}

export const LAYOUTS = ["one-file", "file-per-folder", "file-per-test-case"] as const;
export type Layout = (typeof LAYOUTS)[number];

/** Live id → key of a target. */
export type Pairs = ReadonlyMap<string, string>;

/** A folder of a target; the service returns only its id. */
export interface Folder {
  readonly target: LiveTarget;
  readonly id: string;
  readonly name: string | undefined;
  /** Whether the name is that of another stage's folder, so that it may be wrong here. */
  readonly assumed: boolean;
  /** Names of its test cases that are not declared in any manifest. */
  readonly fresh: readonly string[];
}
