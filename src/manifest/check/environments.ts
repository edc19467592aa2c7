import type { ManifestProblem } from "../problem.ts";
import { errorAbout } from "./subject.ts";
import type { TargetSubject } from "./subject.ts";

/** `Default` would be an additional environment; hardly anyone means that. */
export function defaultEnvironmentIsSpeltRight({ target }: TargetSubject): readonly ManifestProblem[] {
  return target.environments
    .filter(({ key }) => key !== "default" && key.toLowerCase() === "default")
    .flatMap((environment) =>
      errorAbout(
        environment,
        [],
        "misspelt-default",
        `\`${environment.key}\` is not the service's DEFAULT environment`,
        "That one has the key `default`. An additional environment needs another key, so that nobody takes it for the default one.",
        { at: "key" },
      ),
    );
}
