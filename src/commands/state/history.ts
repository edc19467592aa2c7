import { invalid } from "../../model/error.ts";
import type { View } from "../../render/view.ts";
import type { Session } from "../../app/session.ts";
import { mustKnowTarget } from "./documents.ts";
import { INSECURE } from "../shared-options.ts";
import { targetKey } from "../options.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { STATE_NEEDS, inProject } from "../in-project.ts";

const OPTIONS = { target: targetKey("<target>", "key of the target, e.g. shop"), ...INSECURE };

export const command = defineCommand({
  group: "State",
  summary: "list earlier versions of a target's state (postgres)",
  examples: { "tasc state history shop": "show the serial and date of each version" },
  options: OPTIONS,
  run: inProject(stateVersions, STATE_NEEDS),
});

async function stateVersions(
  session: Session,
  { target }: OptionsOf<typeof OPTIONS>,
): Promise<View> {
  const { backend } = await session.states();
  if (backend.versions === undefined)
    throw invalid(
      "state-no-versions",
      `The ${session.settings.state.backend} backend does not keep earlier versions`,
      "Only postgres does. Use git for local state, and the features of your server for http state.",
    );
  const versions = await backend.versions(session.stateKey(target));
  if (versions.length === 0) await mustKnowTarget(session, target);
  const shown = versions.map(({ serial, written }) => ({ serial: Number(serial), written }));
  const lines = shown.map(({ serial, written }) => `${serial}  ${written}`);
  return { json: shown, text: [lines.length === 0 ? ["There are no earlier versions."] : lines] };
}
