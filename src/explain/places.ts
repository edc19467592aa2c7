import { locate } from "../manifest/locate.ts";
import type { Sources } from "../manifest/locate.ts";
import type { Origin, Place } from "../model/diagnostic.ts";

/** Finds the line and column of places by their paths, all at once, since each file is parsed for it. */
export async function placesOf(
  origins: readonly Origin[],
  sources: Sources,
): Promise<(origin: Origin) => Place | undefined> {
  const asked = origins.map((origin) => ({
    severity: "warning" as const,
    code: keyOf(origin),
    summary: "",
    detail: "",
    origin,
  }));
  const located = await locate(asked, sources);
  const places = new Map(located.map(({ code, place }) => [code, place]));
  return (origin) => places.get(keyOf(origin));
}

function keyOf({ file, path }: Origin): string {
  return JSON.stringify([file, path]);
}
