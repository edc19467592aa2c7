import { type Given, flagOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { type Check, check } from "../inspect/doctor.ts";
import { MISSING_SECRET } from "../manifest/interpolation.ts";
import { resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { diagnosticView, placeText } from "../render/diagnostics.ts";
import { count, list } from "../render/words.ts";
import type { NotOpened, Opened } from "./opening.ts";

/** The checks `config` and `stage`. */
export function checkProject(given: Given, world: World, opened: Opened | NotOpened): readonly Check[] {
  if (opened.ok) return [checkConfig(given, opened), checkStage(opened)];
  const errors = opened.diagnostics.filter(({ severity }) => severity === "error");
  const stage = errors.find(({ code }) => code === "no-stage" || code === "unknown-stage");
  if (stage !== undefined) {
    const others = errors.length - 1;
    return [
      others === 0
        ? check("config", "ok", "tasc.yaml and the manifests can be read")
        : failed(errors.filter((error) => error !== stage)),
      check("stage", "fail", stage.summary, stage.detail),
    ];
  }
  // What is wrong with --dotenv has no place in a manifest, and has been said.
  return [failed(errors.length > 0 ? errors : world.said)];
}

const ALL_OF_THEM = "All of them, with their lines:\ntasc validate";

function failed(errors: readonly Diagnostic[]): Check {
  const [first] = errors;
  if (first === undefined) return check("config", "fail", "the project cannot be read");
  const summary = `${count(errors.length, "error")}; the first: ${withPlace(first)}`;
  return check("config", "fail", summary, `${first.detail}\n${errors.length > 1 ? ALL_OF_THEM : ""}`);
}

function withPlace(diagnostic: Diagnostic): string {
  const place = placeText(diagnosticView(diagnostic));
  return place === undefined ? diagnostic.summary : `${diagnostic.summary} (${place})`;
}

function checkConfig(given: Given, { project }: Opened): Check {
  const { desired, documents, diagnostics } = project;
  const resources = desired.targets.flatMap(resourcesOf).length;
  const size = `${count(resources, "resource")} in ${count(documents.length, "document")}`;
  const secrets = diagnostics.filter(({ code }) => code === MISSING_SECRET);
  if (secrets.length > 0) {
    const names = list([...new Set(secrets.map(({ summary }) => nameIn(summary)))]);
    const severity = flagOption(given, "allowMissingSecrets") ? "warn" : "fail";
    return check(
      "config",
      severity,
      `${size}; secrets are missing: ${names}`,
      "Set these environment variables, or name a file of them with --dotenv. A plan without them takes --allow-missing-secrets.",
    );
  }
  const [first] = diagnostics;
  if (first === undefined) return check("config", "ok", size);
  return check(
    "config",
    "warn",
    `${size}; ${count(diagnostics.length, "warning")}, the first: ${withPlace(first)}`,
    first.detail,
  );
}

/** The secret that a diagnostic's summary names; the diagnostic has it nowhere else. */
function nameIn(summary: string): string {
  return /^The secret (\S+) is /.exec(summary)?.[1] ?? summary;
}

function checkStage({ project }: Opened): Check {
  const { stage, stages } = project.settings;
  return check("stage", "ok", stages.length > 1 ? `${stage}, of ${list(stages)}` : stage);
}
