import { sendable } from "../../model/desired.ts";
import type { PlannedCall } from "../../model/plan.ts";
import { patchOf, sendableFields, shownFields } from "../calls.ts";
import type { MatchedTarget } from "../matched-target.ts";
import { type Decision, decided, refused, updated } from "../decision.ts";

/** Decides on a target (service-api.md, operations 2 and 4). */
export function decideTarget(matched: MatchedTarget): Decision {
  const { target, live } = matched;
  if (live !== undefined) return updated(matched, target, live, []);
  const environment = target.environments.find(({ key }) => key === "default");
  const app = sendable(target, "app");
  const discoveryUrl = environment && sendable(environment, "discoveryUrl");
  if (app === undefined || discoveryUrl === undefined) {
    const missing = app === undefined ? "app" : "environments.default.discoveryUrl";
    return refused(
      "cannot-create",
      target,
      `No live test target matches, and it cannot be created without ${missing}`,
      `Declare \`${missing}\` of ${target.address}, or bind it to a live one with \`id:\`.`,
    );
  }
  const sent = sendableFields(target);
  const settings = sent.filter(({ field }) => field.create === undefined);
  const path = ["apiKey", "v3", "test-targets"];
  const post: PlannedCall = { method: "POST", path, body: { testTarget: { app, discoveryUrl } } };
  return decided(target, "create", {
    fields: shownFields(sent),
    calls: [post, ...patchOf(matched, [], settings)],
  });
}
