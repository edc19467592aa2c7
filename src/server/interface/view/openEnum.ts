import type { Settings } from "../../settings.ts";

/** A value of an open enumeration, as a service with values of its own would answer it. */
export function openEnum(value: string, settings: Settings): string {
  return settings.unknownEnums ? `UNLISTED_${value}` : value;
}
