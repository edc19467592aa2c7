import { defineCommand } from "./command.ts";
import { list } from "./options.ts";
import { PLAN_VIEW, VERBOSE } from "./shared-options.ts";
import { printSaved } from "./show.ts";

export const command = defineCommand({
  group: "Review",
  summary: "print several saved plans as one, e.g. the plans of shards",
  examples: {
    "tasc merge-plans plans/*.json --format markdown": "print one comment for all shards",
  },
  options: {
    files: list("<file...>", "plans of one stage, saved by `tasc plan --out`"),
    ...PLAN_VIEW,
    ...VERBOSE,
  },
  run: (options, context) => printSaved(options.files, options, context),
});
