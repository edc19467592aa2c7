import type { ProjectFolder } from "../manifest/files.ts";
import { type LoadOptions, loadProject } from "../manifest/load.ts";
import type { Address } from "../model/address.ts";
import { fieldsOf } from "../model/fields.ts";
import { type Json, type JsonObject, sameJson } from "../model/json.ts";
import { type EditedText, withTexts } from "./edit-files.ts";
import { Manifests, type ProjectDocuments } from "./manifests.ts";
import { valueAtOne } from "./place-values.ts";
import {
  type Excluded,
  NO_PLACE,
  type Rewrite,
  rewriteFields,
  unreportedChange,
} from "./rewrite.ts";

export interface QuarantineRequest extends ProjectDocuments {
  readonly stage: string;
  readonly stages: readonly string[];
  /** The quarantine to write for each test case. */
  readonly wanted: ReadonlyMap<Address, JsonObject>;
  readonly folder: ProjectFolder;
  readonly options: LoadOptions;
}

const QUARANTINE = fieldsOf("testCase").filter(({ name }) => name === "quarantine");

/**
 * Returns the rewrite that puts test cases into quarantine: in their own maps, since a test that
 * fails now and then does so in every stage, or in the stage's override if that has the field.
 */
export function quarantine(request: QuarantineRequest, excluded: Excluded = new Map()): Rewrite {
  const { stage, stages, wanted } = request;
  const start = new Manifests(request);
  const fields = [...wanted].flatMap(([address, value]) =>
    QUARANTINE.map((field) => {
      const ref = { stage, address, field };
      const before = start.written(ref);
      return {
        ref,
        isMet: (now: Json | undefined) => sameJson(now, value),
        candidates: (now: Manifests) =>
          valueAtOne(value, [
            before === undefined ? undefined : now.topSlot(ref),
            now.baseSlot(ref),
            now.stageSlot(ref),
          ]),
        about: { address, path: field.path },
        shown: { after: value, ...(before === undefined ? {} : { before }) },
        unmet: { reason: NO_PLACE },
      };
    }),
  );
  return rewriteFields(start, fields, excluded, stages, { follow: true });
}

/** Reads the new manifests: nothing but the reported quarantines may have changed. */
export async function proveQuarantine(
  texts: readonly EditedText[],
  { changes }: Rewrite,
  request: QuarantineRequest,
): Promise<string | undefined> {
  const { folder, options, stage, stages } = request;
  const loaded = await loadProject(options, withTexts(folder, texts));
  if (!loaded.ok) return "the new manifests could not be read";
  const other = unreportedChange(request, loaded, changes, stage, stages);
  return other && `${other.address} would change in ${other.field.name}, in stage ${other.stage}`;
}
