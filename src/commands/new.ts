import { openFolder } from "../app/session.ts";
import { writeTexts } from "../edit/edit-files.ts";
import { hasErrors, locate } from "../manifest/problem.ts";
import { readProject } from "../manifest/load.ts";
import { withSkeleton } from "../manifest/skeleton.ts";
import { parseAddress } from "../model/address.ts";
import { EXIT, type ExitCode, TascError, stop } from "../model/error.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc new KIND ADDRESS`: writes a commented skeleton of a resource into the right file. */
export async function run(options: OptionsOf<"new">, { host, console }: Context): Promise<ExitCode> {
  const { kind, address } = options;
  const prefix = `${kind}.`;
  const parts = parseAddress(address.startsWith(prefix) ? address : `${prefix}${address}`);
  if (parts === undefined) {
    const example = kind === "target" ? "tasc new target shop" : `tasc new ${kind} shop.checkout`;
    throw stop(
      "invalid",
      "bad-address",
      `${address} is not an address of this kind`,
      `Write it like this:\n${example}`,
    );
  }
  const { root, folder } = openFolder(options, host);
  const { project, documents, problems, sources } = await readProject(folder);
  const found = problems.filter(({ code }) => code !== "no-manifests");
  if (project === undefined || hasErrors(found))
    throw new TascError("invalid", await locate(found, sources), (file) => sources.get(file)?.text);
  const made = withSkeleton(parts, project, documents);
  writeTexts(root, [made]);
  const created = made.before === undefined;
  const json = { address: made.address, file: made.file, created };
  console.show({ json, text: [[`${created ? "wrote" : "changed"}  ${made.file}`]] }, options.format);
  return EXIT.done;
}
