import { KEY_PATTERN } from "../../model/address.ts";

/**
 * Regular expressions that JSON Schema and the checks after interpolation share, as text. They are written for the
 * `u` flag, as JSON Schema wants it.
 */

/** Names that JavaScript gives a meaning to; no manifest needs them. */
export const RESERVED_KEYS = ["__proto__", "constructor", "prototype"] as const;

/** A logical key that is none of the reserved names. */
export const LOGICAL_KEY = KEY_PATTERN.replace("^", `^(?!(?:${RESERVED_KEYS.join("|")})$)`);

/** Any key but the reserved names, and but what looks like an interpolation: keys have none. */
export const ANY_KEY = `^(?!(?:${RESERVED_KEYS.join("|")})$)(?![\\s\\S]*\\$\\{)`;

/** An absolute URL: a scheme, `://` and something after it; or a `data:` URL, as images may be. */
export const URL_TEXT = "^(?:[A-Za-z][A-Za-z0-9+.-]*://[^\\s/]|data:)\\S*$";

export const UUID = "^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";

export const ADDRESS = address(KEY_PATTERN.slice(1, -1));

function address(key: string): string {
  return `^(?:target\\.${key}|(?:environment|testCase|batchGeneration)\\.${key}\\.${key})$`;
}

/** A number and its unit: `500ms`, `30s`, `2m`, `1h`. */
export const DURATION = "^[0-9]+(?:\\.[0-9]+)?(?:ms|s|m|h)$";

/** Something is interpolated, so that nothing can be said yet. */
export const INTERPOLATED = "\\$\\{";

/** Nothing but secrets, files and variables, which may hold secrets. */
export const ONLY_SECRETS = "^(?:\\$\\{(?:secret|file|var):[^}]*\\})+$";
