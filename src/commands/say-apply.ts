import type { ApplyEvent } from "../apply/events.ts";
import type { Outcome } from "../apply/outcome.ts";
import type { World } from "../cli/world.ts";
import type { Console } from "./console.ts";

export function sayProgress(console: Console, _world: World): (event: ApplyEvent) => void {
  return (event) => {
    if (event.type === "changeDone") console.say("info", `done: ${event.action} ${event.address}`);
    if (event.type === "changeFailed")
      console.say("error", `failed: ${event.address}: ${event.failure.summary}`);
    if (event.type === "waiting") console.say("info", `waiting for ${event.unfinished} discoveries`);
  };
}

export function sayOutcome(console: Console, outcome: Outcome): void {
  for (const { address, failure } of outcome.failed)
    console.say("error", `failed: ${address}\n  ${failure.summary}\n  ${failure.detail}`);
  for (const { address, reason } of outcome.skipped)
    console.say("error", `skipped: ${address} (${reason.kind})`);
  for (const { address, paths } of outcome.notTaken)
    console.say("error", `did not take: ${address}: ${paths.map((path) => path.join(".")).join(", ")}`);
  console.data(
    `Applied: ${outcome.done.length} done, ${outcome.failed.length} failed, ${outcome.skipped.length} skipped (${outcome.calls.POST} POST, ${outcome.calls.PATCH} PATCH)\n`,
  );
}
