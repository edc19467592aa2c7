import { safeLine } from "../output/safe.ts";
import type { Style } from "../render/style.ts";
import { count } from "../render/words.ts";
import type { Remembered } from "./describe.ts";

/** `tasc state show` for people: one thing a line. */
export function renderRemembered(remembered: Remembered, style: Style): string {
  const lines = [
    `${style.strong(remembered.address)}  ${style.faint(`stage ${safeLine(remembered.stage)}`)}`,
    ...bindingLines(remembered),
    ...otherLines(remembered),
    ...targetLines(remembered),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function bindingLines({ id, fields = {}, locators = [] }: Remembered): readonly string[] {
  if (id === undefined) return [];
  const recorded = Object.entries(fields).map(([name, parts]) =>
    parts === true ? safeLine(name) : `${safeLine(name)} (${parts.map(safeLine).join(", ")})`,
  );
  return [
    `  id: ${safeLine(id)}`,
    `  recorded fields: ${recorded.length === 0 ? "none" : recorded.join(", ")}`,
    ...(locators.length === 0 ? [] : [`  recorded locator lines: ${count(locators.length, "element")}`]),
    ...locators.map((element) => `    ${safeLine(element)}`),
  ];
}

const BATCH: Readonly<Record<NonNullable<Remembered["batch"]>, string>> = {
  done: "done: it ran with the recorded content",
  held: "held: nobody knows whether it ran",
  uncertain: "uncertain: it was sent, and what became of it is not known",
  undone: "undone: it is to run",
};

function otherLines({ batch, intent }: Remembered): readonly string[] {
  return [
    ...(batch === undefined ? [] : [`  batch generation: ${BATCH[batch]}`]),
    ...(intent === undefined
      ? []
      : [
          `  creation under way: since ${safeLine(intent.at)}; the next apply looks what became of it`,
          ...intent.existing.map((id) => `    there before: ${safeLine(id)}`),
        ]),
  ];
}

function targetLines({ folders, addresses }: Remembered): readonly string[] {
  if (folders === undefined) return [];
  const names = Object.entries(folders);
  return [
    `  addresses in this target: ${addresses ?? 0}`,
    `  folders: ${names.length === 0 ? "none known" : ""}`.trimEnd(),
    ...names.map(([name, id]) => `    ${safeLine(name)}: ${safeLine(id)}`),
  ];
}
