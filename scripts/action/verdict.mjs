// Fails the check if the plan failed, or, if configured, if there are changes.
import { annotate, input } from "./runner.mjs";

const code = Number(input(process.env, "EXITCODE") || 1);
const changes = input(process.env, "FAIL_ON_CHANGES") === "true";

if (code === 2 && changes) annotate("error", "There are changes, and `fail-on-changes` is set.");
else if (code !== 0 && code !== 2) annotate("error", `The plan failed with exit code ${code}.`);
process.exitCode = code === 2 && !changes ? 0 : code;
