import { type AddressParts, type Kind, addressOf, targetAddress } from "../model/address.ts";
import { invalid, failed } from "../model/error.ts";
import { type Field, TARGET_FIELDS } from "../model/fields.ts";
import { type Json, isObject } from "../model/json.ts";
import { type Document } from "./document.ts";
import { keyRank } from "./format.ts";
import { listWords } from "./problem.ts";
import { patternsOf } from "./find-manifests.ts";
import { SECTIONS } from "./tables.ts";
import { editYaml } from "./yaml/edit.ts";
import { openSource } from "./yaml/read-slow.ts";

/**
 * Adds a resource with its required fields, and with all other possible fields as comments.
 * @throws TascError
 */
export function withSkeleton(
  { kind, target, key }: AddressParts,
  project: Document,
  documents: readonly Document[],
) {
  const own = documents.filter(({ value }) => value.target === target);
  if (kind === "target") return newTarget(target, project, own);
  const address = addressOf(kind, target, key);
  const section = SECTIONS.find((one) => one.kind === kind);
  const [first] = own;
  if (section === undefined || first === undefined) {
    const detail = `Create it first:\ntasc new target ${target}`;
    throw invalid("unknown-target", `No manifest declares the target ${target}`, detail);
  }
  const holders = own.filter(({ value }) => isObject(value[section.name]));
  const holder = holders.find(
    ({ value: { [section.name]: map } }) => isObject(map) && Object.hasOwn(map, key),
  );
  if (holder !== undefined)
    throw invalid("duplicate", `${address} is already declared in ${holder.file}`);
  // Several files may mean one file per resource, which only the user can name. Then the target's
  // first document is used.
  const document =
    holders.length > 1 && first.value.app !== undefined ? first : (holders[0] ?? first);
  const path = [...document.root, section.name, key];
  const edit = { kind: "set", path, value: exampleOf(kind, key) } as const;
  const edited = editYaml(document.text, [edit], { rank: keyRank("target") });
  if (!edited.ok) throw failed("not-editable", `Cannot edit ${document.file}`, edited.reason);
  const after = withComments(edited.text, path, section.fields, exampleOf(kind, key));
  return { address, file: document.file, bom: document.bom, before: document.text, after };
}

function exampleOf(kind: Kind, key: string): Record<string, Json> {
  const words = key.replaceAll(/[-_]+/g, " ");
  if (kind === "environment") return { discoveryUrl: exampleUrl(key) };
  if (kind === "batchGeneration") return { prompt: `Describe what the tests of ${words} cover.` };
  return {
    description: words.charAt(0).toUpperCase() + words.slice(1),
    discovery: { prompt: "Describe what the test does and what it checks." },
  };
}

function exampleUrl(key: string): string {
  return `https://${key.toLowerCase().replaceAll("_", "-")}.example.com`;
}

/** Adds the other possible fields as comments below a resource in block style. */
function withComments(
  text: string,
  path: readonly (string | number)[],
  fields: readonly Field[],
  declared: Record<string, Json>,
): string {
  const source = openSource(text);
  const { line, column } = source.positionOf(path, "key");
  const first = source.positionOf([...path, Object.keys(declared)[0] ?? ""], "key");
  // A map in braces has no room for comments.
  if (first.line === line) return text;
  const lines = text.split("\n");
  const next = lines.findIndex(
    (one, at) => at >= line && one.trim() !== "" && one.search(/\S/) < column,
  );
  const end = next < 0 ? lines.length - (text.endsWith("\n") ? 1 : 0) : next;
  const indent = " ".repeat(first.column - 1);
  return [
    ...lines.slice(0, end),
    ...commentsOf(fields, declared, indent),
    ...lines.slice(end),
  ].join("\n");
}

/**
 * Returns comments for fields whose first part is not declared: `discovery.prompt` leaves out all
 * of `discovery`.
 */
function commentsOf(
  fields: readonly Field[],
  declared: Record<string, Json>,
  indent: string,
): string[] {
  return fields
    .filter(({ name }) => !Object.hasOwn(declared, name.split(".", 1)[0] ?? ""))
    .map(({ name, description }) => `${indent}# ${name}:  # ${description}`);
}

function newTarget(target: string, project: Document, own: readonly Document[]) {
  const address = targetAddress(target);
  const [first] = own;
  if (first !== undefined)
    throw invalid("duplicate", `${address} is already declared in ${first.file}`);
  const file = `${folderOf(project)}${target}.yaml`;
  const comments = commentsOf(TARGET_FIELDS, { app: "" }, "").join("\n");
  const after = `target: ${target}
app: ${target}
${comments}
environments:
  default:
    discoveryUrl: ${exampleUrl(target)}
testCases: {}
`;
  return { address, file, bom: false, before: undefined, after };
}

/** Returns a folder whose YAML files are manifests. */
function folderOf(project: Document): string {
  const patterns = patternsOf(project);
  const found = patterns.find((pattern) => /\*[^/]*\.(?:ya?ml|\{[^}]*yaml)/.test(pattern));
  if (found !== undefined) return found.slice(0, found.search(/[^/]*[*?[{]/));
  throw invalid(
    "no-place",
    "No pattern of `manifests` matches a new YAML file",
    `The patterns are ${listWords(patterns, "and")}. Create the file by hand, or add a pattern.`,
  );
}

/** The target that `tasc init` writes. An import removes it if it is unchanged. */
export const SAMPLE = {
  file: "targets/shop.yaml",
  text: `# yaml-language-server: $schema=../.tasc/schemas/target.schema.json
target: shop
app: Web Shop
environments:
  default:
    discoveryUrl: https://shop.example.com
defaults:
  testCases: { runStatus: ON, tags: [web] }
testCases:
  login:
    description: Log in with valid credentials
    folder: Authentication
    discovery:
      prompt: Log in as the test account and check the greeting.
      type: LOGIN
  cart-total:
    description: Cart total adds up
    discovery:
      prompt: Put two articles into the cart and check the total.
      prerequisite: login
`,
};
