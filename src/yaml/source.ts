import type { Path } from "../model/json.ts";
import { findCharacters } from "./characters.ts";
import { parseTree } from "./parse-tree.ts";
import { type Place, placesOf } from "./place.ts";
import { type Step, TreeIndex } from "./tree-index.ts";

/** A text that can be asked where things stand in it. Loads `yaml`: import this module lazily. */
export type Source = {
  /**
   * Where a key or its value begins. A list item has no key: both answers are its value. Where nothing is
   * written after a colon or a dash, both are the key or the dash. Behind an alias it is the place inside of
   * what the alias refers to; the alias is itself the value of its own key.
   * For a path that the text does not have, it is the key of the nearest ancestor that it does have, and in
   * the end the place of the whole value.
   */
  positionOf(path: Path, at: "key" | "value"): Place;
};

/**
 * Opens a text for questions about places. It is parsed at the first question; an answer costs one look into
 * a hash for each step of the path. A text with problems is answered for as far as it can be made out.
 *
 * @param text a whole file, without byte order mark.
 */
export function openSource(text: string): Source {
  let answer: ((path: Path, at: "key" | "value") => Place) | undefined;
  return { positionOf: (path, at) => (answer ??= answering(text))(path, at) };
}

function answering(text: string): (path: Path, at: "key" | "value") => Place {
  const index = new TreeIndex(parseTree(findCharacters(text).cleaned).root);
  const placeOf = placesOf(text);
  return (path, at) => {
    const steps = index.steps(path);
    const exists = steps.length > path.length;
    return placeOf(offsetOf(steps.at(-1), exists ? at : "key"));
  };
}

function offsetOf(step: Step | undefined, at: "key" | "value"): number {
  if (step === undefined) return 0;
  const { key, value, start } = step;
  if (value.start === value.end) return start;
  return at === "key" && key !== undefined ? start : value.start;
}
