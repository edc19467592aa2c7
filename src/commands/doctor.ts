import { arch, platform } from "node:os";
import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import {
  CHECKS,
  type Check,
  type CheckName,
  checkVersion,
  hasFailed,
  renderChecks,
  skipped,
} from "../inspect/doctor.ts";
import { checkProject } from "./doctor-project.ts";
import { checkService } from "./doctor-service.ts";
import { checkState } from "./doctor-state.ts";
import { openProject } from "./opening.ts";

/** `tasc doctor`: looks at all that a plan and an apply need, and says what to do. It frees what a dead run locked, and changes nothing else. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  // Missing secrets keep nothing else from being looked at; they are told as a check of their own.
  const lenient = { ...given, options: { ...given.options, allowMissingSecrets: true } };
  const opened = await openProject(lenient, world, { needsApiKey: false, leave: "all" });
  const found: readonly Check[] = [
    ...checkProject(given, world, opened),
    ...(opened.ok ? await checkService(given, world, opened) : []),
    checkVersion({
      tasc: world.version,
      node: process.versions.node,
      platform: `${platform()} ${arch()}`,
    }),
    ...(opened.ok ? await checkState(opened, world) : []),
  ];
  const checks = CHECKS.map((name) => found.find((one) => one.name === name) ?? skipped(name, cause(found)));
  const { console } = opened;
  if (textOption(given, "format") === "json") {
    const list = checks.map(({ name, status, summary, detail }) => ({ name, status, summary, detail }));
    console.json({ ok: !hasFailed(checks), checks: list });
  } else console.data(renderChecks(checks, { style: console.style.stdout, width: console.columns }));
  return hasFailed(checks) ? EXIT.failed : EXIT.done;
}

/** What keeps a check from being made, where nothing else says so. */
function cause(found: readonly Check[]): CheckName {
  return found.find(({ status }) => status === "fail")?.name ?? "config";
}
