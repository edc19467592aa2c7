import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import type { NewText } from "./texts.ts";

/** The change of a file as `git diff` shows it, without line ends of their own kind. */
export function patchOf({ file, before, after }: NewText): string {
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  const patch = createTwoFilesPatch(`a/${file}`, `b/${file}`, before, after, undefined, undefined, options);
  return patch.replaceAll("\r", "");
}
