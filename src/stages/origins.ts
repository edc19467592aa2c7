import type { Origin } from "../model/diagnostic.ts";
import type { StageDiff } from "./difference.ts";

/** All places that a diff speaks of. */
export function originsIn({ differences, onlyFrom, onlyTo }: StageDiff): readonly Origin[] {
  const sides = differences.flatMap(({ from, to }) => [from?.origin, to?.origin]);
  const lone = [...onlyFrom, ...onlyTo].map(({ origin }) => origin);
  return [...sides, ...lone].filter((origin) => origin !== undefined);
}
