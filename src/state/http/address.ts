import type { HttpConfig } from "../config.ts";
import type { StateKey } from "../problem.ts";

/** Where a document and its lock are. */
export interface Addresses {
  readonly document: string;
  readonly lock: string;
  readonly unlock: string;
}

/**
 * The protocol has one address for one document. With `{target}` in the configured address, `{stage}` and
 * `{target}` are filled in (a server may take one path segment only: `…/state/{stage}-{target}`); without it,
 * `/STAGE/TARGET` is added to the path. The addresses of the lock are made in the same way.
 */
export function addressesOf({ address, locking }: HttpConfig, key: StateKey): Addresses {
  const fill = (template: string) => fillIn(template, key);
  return {
    document: fill(address),
    lock: fill(locking?.lockAddress ?? address),
    unlock: fill(locking?.unlockAddress ?? address),
  };
}

function fillIn(template: string, { stage, target }: StateKey): string {
  const [stagePart, targetPart] = [encodeURIComponent(stage), encodeURIComponent(target)];
  if (template.includes("{target}"))
    return template.replaceAll("{stage}", stagePart).replaceAll("{target}", targetPart);
  const url = new URL(template);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${stagePart}/${targetPart}`;
  return url.href;
}

/** The address for a write under a lock: the protocol has the lock's id in the query. */
export function withLockId(address: string, id: string | undefined): string {
  if (id === undefined) return address;
  const url = new URL(address);
  url.searchParams.set("ID", id);
  return url.href;
}
