import type { DesiredResource } from "../model/desired.ts";
import type { Value } from "../model/value.ts";
import { isUnknown, reveal } from "../model/value.ts";

/** A declared value that is known and not null, as it goes into a body: a secret one stays wrapped. */
export function sendable(resource: DesiredResource, field: string): Value | undefined {
  const value = resource.fields[field];
  return value === undefined || value === null || isUnknown(value) ? undefined : value;
}

/** A declared text that is known, for what must be one: a name, a prompt, a URL. */
export function knownText(resource: DesiredResource, field: string): string | undefined {
  const value = sendable(resource, field);
  const plain = value === undefined ? undefined : reveal(value);
  return typeof plain === "string" ? plain : undefined;
}
