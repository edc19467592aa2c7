import type { Json } from "../model/json.ts";

/**
 * A plain scalar that YAML reads as a number which plain data cannot hold: infinite, not a number, or
 * inexact.
 */
export const NOT_PLAIN_DATA = Symbol("not plain data");

const INTEGER = /^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/**
 * What an unquoted scalar means in YAML 1.2 core, and in nothing else: `yes`, `ON`, `1_000`, `0b1`,
 * `2024-01-01` and `12:30` are text. The first character rules out nearly every text before a pattern is
 * tried.
 */
export function plainValue(text: string): Json | typeof NOT_PLAIN_DATA {
  switch (text.charCodeAt(0)) {
    case 0x7e: // ~
    case 0x6e: // n
    case 0x4e: // N
    case 0x74: // t
    case 0x54: // T
    case 0x66: // f
    case 0x46: // F
      return wordValue(text);
    case 0x2b: // +
    case 0x2d: // -
    case 0x2e: // .
    case 0x30:
    case 0x31:
    case 0x32:
    case 0x33:
    case 0x34:
    case 0x35:
    case 0x36:
    case 0x37:
    case 0x38:
    case 0x39:
      return numberValue(text);
    default:
      return text === "" ? null : text;
  }
}

function wordValue(text: string): Json {
  switch (text) {
    case "~":
    case "null":
    case "Null":
    case "NULL":
      return null;
    case "true":
    case "True":
    case "TRUE":
      return true;
    case "false":
    case "False":
    case "FALSE":
      return false;
    default:
      return text;
  }
}

function numberValue(text: string): number | string | typeof NOT_PLAIN_DATA {
  if (isIntegerText(text)) {
    const value = integerValue(text);
    return Number.isSafeInteger(value) ? value : NOT_PLAIN_DATA;
  }
  if (FLOAT.test(text)) {
    const value = Number.parseFloat(text);
    return Number.isFinite(value) ? value : NOT_PLAIN_DATA;
  }
  return NOT_FINITE.test(text) ? NOT_PLAIN_DATA : text;
}

/** Whether the text is written as an integer, so that its digits are meant to be kept one by one. */
export function isIntegerText(text: string): boolean {
  return INTEGER.test(text);
}

function integerValue(text: string): number {
  if (text.startsWith("0o")) return Number.parseInt(text.slice(2), 8);
  if (text.startsWith("0x")) return Number.parseInt(text.slice(2), 16);
  return Number.parseInt(text, 10);
}
