import { commandReference } from "./commands.ts";
import { exitCodeTable } from "./exit-codes.ts";
import { fieldReference } from "./fields.ts";

/** docs/reference.md, from the tables that the program itself reads; prettier then has the last word on its form. */
export function referenceText(): string {
  return [
    "# Reference",
    "<!-- Written by `npm run generate` from the command table and the field table. -->",
    "[Commands](#commands), [exit codes](#exit-codes), [fields](#fields). The whole form of `tasc.yaml` and of target documents is in the JSON Schemas: `tasc schema project`, `tasc schema target`.",
    commandReference(),
    "## Exit codes",
    exitCodeTable(),
    fieldReference(),
    "",
  ].join("\n\n");
}
