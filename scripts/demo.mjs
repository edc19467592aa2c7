// The main workflow on the example project: a local service, a plan, an apply, an empty plan, and
// one change.
import { openShop } from "./shop.mjs";

const shop = await openShop();
try {
  say("a local service without test cases, and a project with two targets");
  await run(1, "plan");
  await run(1, "apply", "--auto-approve", "--wait");
  await run(0, "plan");
  say("a prompt is rewritten and one test case is switched off");
  shop.rewriteOneAndSwitchOneOff();
  await run(0, "plan");
  await run(1, "apply", "--auto-approve", "--wait");
  await run(0, "plan");
} finally {
  shop.close();
}

function say(text) {
  console.log(`\n# ${text}`);
}

/** @param last how many of the last lines that have text are printed; 0 is all */
async function run(last, ...args) {
  console.log(`\n$ tasc ${args.join(" ")}${last === 0 ? "" : ` | tail -n ${last}`}`);
  const lines = (await shop.run(...args)).trimEnd().split("\n");
  console.log((last === 0 ? lines : lines.filter((line) => line !== "").slice(-last)).join("\n"));
}
