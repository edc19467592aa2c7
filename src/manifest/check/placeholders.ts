import type { Path } from "../../model/json.ts";
import { manifestError } from "../problem.ts";
import type { ManifestProblem } from "../problem.ts";
import { isHidden, partsAlong } from "../shape/shape.ts";
import type { TemplateFault } from "../template/parse.ts";
import type { DocumentSubject } from "./document-subject.ts";

/** Every `${…}` is an interpolation that tasc knows, also in stages that are not chosen. */
export function placeholdersAreKnown({
  document,
  root,
  templates,
}: DocumentSubject): readonly ManifestProblem[] {
  return templates.flatMap(({ path, template }) =>
    template.faults.map((fault) =>
      badPlaceholder(document.file, path, fault, partsAlong(root, path).some(isHidden)),
    ),
  );
}

/** Where the value is to be hidden, so is what was meant as a placeholder: it may be the password itself. */
function badPlaceholder(file: string, path: Path, fault: TemplateFault, hidden: boolean): ManifestProblem {
  return manifestError(
    "bad-placeholder",
    { file, path },
    `\`${hidden ? "${…}" : fault.source}\` is no interpolation`,
    fault.reason,
    { within: fault.source },
  );
}
