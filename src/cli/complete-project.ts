import type { Document } from "../manifest/document.ts";
import { projectFolder } from "../manifest/files.ts";
import { readProject } from "../manifest/load.ts";
import { stagesOf } from "../manifest/settings.ts";
import { addressOf, compareText, isAddress, targetAddress } from "../model/address.ts";
import { type JsonObject, isObject } from "../model/json.ts";

/** What is read from the project to complete a word. */
export type Lookup = "stages" | "addresses" | "targets";

const PARTS = [
  ["environments", "environment"],
  ["testCases", "testCase"],
  ["batchGenerations", "batchGeneration"],
] as const;

/** Words from a project's manifests as they stand: nothing is filled in, so no variable and no secret is needed. */
export async function lookUp(lookup: Lookup, root: string): Promise<readonly string[]> {
  const { project, documents } = await readProject(projectFolder(root));
  if (lookup === "stages") return project === undefined ? [] : stagesOf(project).filter(isKey);
  const words = documents.flatMap((document) =>
    lookup === "targets" ? [targetIn(document) ?? ""].filter(isKey) : addressesIn(document),
  );
  return [...new Set(words)].toSorted(compareText);
}

/** A word with other characters is a mistake in a manifest, and would need quoting. */
function isKey(word: string): boolean {
  return isAddress(targetAddress(word));
}

function targetIn({ value }: Document): string | undefined {
  return typeof value["target"] === "string" ? value["target"] : undefined;
}

function addressesIn(document: Document): readonly string[] {
  const target = targetIn(document);
  if (target === undefined) return [];
  const { stages } = document.value;
  const layers = [document.value, ...(isObject(stages) ? Object.values(stages) : [])].filter(isObject);
  const parts = layers.flatMap((layer) =>
    PARTS.flatMap(([part, kind]) => keysOf(layer, part).map((key) => addressOf(kind, target, key))),
  );
  return [targetAddress(target), ...parts].filter(isAddress);
}

function keysOf(layer: JsonObject, part: string): readonly string[] {
  const value = layer[part];
  return isObject(value) ? Object.keys(value) : [];
}
