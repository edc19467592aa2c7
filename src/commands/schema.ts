import { EXIT } from "../cli/exit.ts";
import type { ExitCode } from "../cli/exit.ts";
import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import plan from "../../schemas/plan.schema.json" with { type: "json" };
import project from "../../schemas/project.schema.json" with { type: "json" };
import target from "../../schemas/target.schema.json" with { type: "json" };
import { writeJson } from "../render/json.ts";
import { consoleFor } from "./opening.ts";

const SCHEMAS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["project", project],
  ["target", target],
  ["plan", plan],
]);

/** `tasc schema project|target|plan`: prints a JSON Schema. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  consoleFor(given, world, []).writer.document(writeJson(SCHEMAS.get(given.args[0] ?? "")));
  return EXIT.done;
}
