import { writeTexts } from "../edit/edit-files.ts";
import { hasErrors } from "../manifest/problem.ts";
import { withSkeleton } from "../manifest/skeleton.ts";
import { KINDS, parseAddress } from "../model/address.ts";
import { invalid } from "../model/error.ts";
import type { View } from "../render/view.ts";
import { invalidProject, readFolder } from "../app/project.ts";
import type { Context } from "./context.ts";
import { argument, oneOf } from "./options.ts";
import { type OptionsOf, defineCommand } from "./command.ts";

const OPTIONS = {
  kind: oneOf("<kind>", "kind of resource to add", KINDS),
  address: argument(
    "<address>",
    "address: `shop` for a target, `shop.checkout` for a resource of that target",
  ),
};

export const command = defineCommand({
  group: "Write",
  summary: "add a commented skeleton of a resource to the right file",
  examples: {
    "tasc new target shop": "add a target in a new file",
    "tasc new testCase shop.checkout": "add a test case to the target shop",
  },
  options: OPTIONS,
  run: addNew,
});

async function addNew(options: OptionsOf<typeof OPTIONS>, { host }: Context): Promise<View> {
  const { kind, address } = options;
  const prefix = `${kind}.`;
  const parts = parseAddress(address.startsWith(prefix) ? address : `${prefix}${address}`);
  if (parts === undefined) {
    const example = kind === "target" ? "tasc new target shop" : `tasc new ${kind} shop.checkout`;
    throw invalid(
      "bad-address",
      `${address} is not an address of this kind`,
      `Write it like this:\n${example}`,
    );
  }
  const { root, reading } = await readFolder(options, host);
  const { project, documents, problems } = reading;
  const found = problems.filter(({ code }) => code !== "no-manifests");
  if (project === undefined || hasErrors(found)) throw await invalidProject(reading, found);
  const made = withSkeleton(parts, project, documents);
  writeTexts(root, [made]);
  const created = made.before === undefined;
  return {
    json: { address: made.address, file: made.file, created },
    text: [[`${created ? "wrote" : "changed"}  ${made.file}`]],
  };
}
