import plan from "../../schemas/plan.schema.json" with { type: "json" };
import project from "../../schemas/project.schema.json" with { type: "json" };
import target from "../../schemas/target.schema.json" with { type: "json" };
import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { writeJson } from "../render/json.ts";
import { sayError } from "./diagnostics.ts";
import { consoleFor, projectRoot } from "./opening.ts";

const SCHEMAS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["project", project],
  ["target", target],
  ["plan", plan],
]);

/** `tasc schema project|target|plan`: prints a JSON Schema. `--install vscode` puts them where an editor finds them. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const console = consoleFor(given, world, []);
  const [which] = given.args;
  const install = textOption(given, "install") !== undefined;
  if ((which === undefined) !== install) {
    sayError(
      console,
      install ? "--install takes no schema: it installs those of manifests" : "It is not said which schema",
      "tasc schema project|target|plan\ntasc schema --install vscode",
    );
    return EXIT.invalid;
  }
  if (install) {
    const { installForVscode } = await import("./schema-install.ts");
    return await installForVscode({
      root: projectRoot(given, world),
      schemas: { project, target },
      console,
    });
  }
  console.writer.document(writeJson(SCHEMAS.get(which ?? "")));
  return EXIT.done;
}
