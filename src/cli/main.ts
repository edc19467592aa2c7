import { EXIT } from "./exit.ts";
import { readCommandLine } from "./program.ts";
import { realWorld } from "./world.ts";

async function main(): Promise<void> {
  const world = realWorld();
  const request = readCommandLine(process.argv.slice(2), world);
  if (request.kind === "answered") {
    process.exitCode = request.code;
    return;
  }
  const command = await request.spec.load?.();
  process.exitCode =
    command === undefined
      ? EXIT.invalid
      : await command.run({ args: request.args, options: request.options }, world);
}

void main();
