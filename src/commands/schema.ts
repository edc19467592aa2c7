import plan from "../../schemas/plan.schema.json" with { type: "json" };
import project from "../../schemas/project.schema.json" with { type: "json" };
import target from "../../schemas/target.schema.json" with { type: "json" };
import { projectRoot } from "../app/session.ts";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
import { writeJson } from "../render/json.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

const SCHEMAS = { project, target, plan };

/** `tasc schema project|target|plan`: prints a JSON Schema. `--install vscode` puts them where an editor finds them. */
export async function run(options: OptionsOf<"schema">, { console, host }: Context): Promise<ExitCode> {
  const { which, install, format } = options;
  if ((which === undefined) !== (install !== undefined))
    throw stop(
      "invalid",
      "bad-arguments",
      which === undefined
        ? "It is not said which schema"
        : "--install takes no schema: it installs those of manifests",
      "tasc schema project|target|plan\ntasc schema --install vscode",
    );
  if (which === undefined) {
    const { installForVscode } = await import("./schema-install.ts");
    console.show(await installForVscode(projectRoot(options, host), { project, target }), format);
  } else console.document(writeJson(SCHEMAS[which]));
  return EXIT.done;
}
