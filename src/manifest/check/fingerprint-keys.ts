import { isObject } from "../../model/json.ts";
import type { Path } from "../../model/json.ts";
import { manifestWarning } from "../problem.ts";
import type { ManifestProblem } from "../problem.ts";
import { isTemplate } from "../template/parse.ts";
import { showPath } from "../words.ts";
import { documentLayers } from "./document-subject.ts";
import type { DocumentSubject } from "./document-subject.ts";

/** A literal key is no error, but whoever can read it can test guesses at what state has fingerprints of. */
export function fingerprintKeysAreSecret({ document }: DocumentSubject): readonly ManifestProblem[] {
  return documentLayers(document).flatMap(({ path, value }) => {
    const key = isObject(value.state) ? value.state.fingerprintKey : undefined;
    if (typeof key !== "string" || isTemplate(key)) return [];
    return [openKey(document.file, [...path, "state", "fingerprintKey"])];
  });
}

function openKey(file: string, path: Path): ManifestProblem {
  return manifestWarning(
    "secret-in-clear",
    { file, path },
    `\`${showPath(path)}\` stands in the file for everyone to read`,
    "With it, guesses at passwords can be tested against the fingerprints in state. Write `${secret:NAME}`, and put the key into the environment variable NAME.",
  );
}
