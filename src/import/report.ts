import type { LeftOut } from "./draft.ts";
import type { UnnamedFolder } from "./folders.ts";
import type { NewFile } from "./layout.ts";

/** The line about a file that was written. */
export function fileLine({ file, environments, testCases }: NewFile): string {
  const parts = [counted(environments, "environment"), counted(testCases, "test case")];
  const held = parts.filter((part) => part !== undefined).join(", ");
  return held === "" ? `wrote  ${file}` : `wrote  ${file}  (${held})`;
}

/** What would be written, as a stream of documents that YAML readers can take apart again. */
export function previewOf(files: readonly NewFile[]): string {
  return files.map(({ file, text }) => `--- # ${file}\n${text}`).join("");
}

/** What is live and was not imported, with the reason; a line each. */
export function leftOutLines(leftOut: readonly LeftOut[]): readonly string[] {
  return leftOut.map(({ app, kind, id, name, reason }) => {
    const noun = kind === "testCase" ? "test case" : kind === "target" ? "test target" : kind;
    const title = name === undefined ? "" : ` ${JSON.stringify(name)}`;
    return `left out  ${noun}${title} (${id}) of ${JSON.stringify(app)}: ${reason}`;
  });
}

/** What a person who knows the folder's name needs to recognise it by. */
export function folderQuestion({ id, apps, testCases }: UnnamedFolder): string {
  const examples = testCases.slice(0, 3).map((name) => JSON.stringify(name));
  const more = testCases.length > 3 ? `, and ${testCases.length - 3} more` : "";
  return `Folder ${id} of ${apps.join(", ")} holds ${examples.join(", ")}${more}.`;
}

export function unnamedLine(folders: readonly UnnamedFolder[]): string {
  const list = folders.map(
    ({ id, testCases }) => `  ${id}  (${counted(testCases.length, "test case") ?? ""})`,
  );
  return `The service shows these folders by id alone, so they are not declared:\n${list.join("\n")}\nTo name one while importing: --folder ID=NAME`;
}

function counted(count: number, noun: string): string | undefined {
  return count === 0 ? undefined : `${count} ${noun}${count === 1 ? "" : "s"}`;
}
