import type { Address } from "../../model/address.ts";
import { type Diagnostic, warning } from "../../model/diagnostic.ts";
import type { State } from "../../model/state.ts";
import type { View } from "../../render/view.ts";
import { count } from "../../model/words.ts";
import { forgetAddress, knownAddresses } from "../../state/edit.ts";
import type { Session } from "../../app/session.ts";
import { withDocuments } from "./documents.ts";
import { STATE_EDIT } from "../shared-options.ts";
import { address } from "../options.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { STATE_NEEDS, inProject } from "../in-project.ts";

const OPTIONS = {
  address: address("<address>", "address to forget; a target includes everything in it"),
  ...STATE_EDIT,
};

export const command = defineCommand({
  group: "State",
  summary: "remove an address from state without calling the service",
  examples: {
    "tasc state rm testCase.shop.old": "stop listing a test case as orphaned",
    "tasc state rm target.shop": "forget a target; the next plan matches everything by name",
  },
  options: OPTIONS,
  run: inProject(removeState, STATE_NEEDS),
});

async function removeState(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const { address, kind, target } = options.address;
  const whole = kind === "target";
  const why = "tasc state rm";
  const forgotten = await withDocuments(
    session,
    [target],
    why,
    options,
    async ({ state, replace }) => {
      const gone = whole ? knownAddresses(state) : [address];
      session.host.warn(consequences(state, gone));
      await replace(forgetAddress(state, address));
      return gone;
    },
  );
  const all = whole
    ? `, with all that is in it (${count(forgotten.length, "address", "addresses")})`
    : "";
  return {
    json: { stage: session.settings.stage, forgotten },
    text: [[`${address} is forgotten${all}. The service was not called.`]],
  };
}

function consequences(state: State, gone: readonly Address[]): readonly Diagnostic[] {
  const last = gone.length === knownAddresses(state).length;
  const ran = last ? [] : gone.filter((address) => state.batchGenerations.has(address));
  return [
    ...gone
      .filter((address) => state.intents.has(address))
      .map((address) =>
        warning(
          "intent-forgotten",
          `A creation of ${address} was interrupted; its result is unknown`,
          "The next apply looks for it by name only. Check that it does not create a duplicate.",
        ),
      ),
    ...ran.map((address) =>
      warning(
        "batch-forgotten",
        `${address} is now recorded as not run`,
        `The next apply runs it if a manifest declares it. If it already ran:\n  tasc state mark ${address} done`,
      ),
    ),
  ];
}
