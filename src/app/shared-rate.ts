import { warning } from "../model/diagnostic.ts";
import type { Settings } from "../model/settings.ts";
import type { Secret } from "../model/value.ts";
import { type Backend, normalAddress } from "../state/backend.ts";
import { createFingerprinter } from "../state/fingerprint.ts";
import { StateFailure, explainProblem } from "../state/problem.ts";
import type { Host } from "./project.ts";

/** What the rate needs of a session. */
interface Sharing {
  readonly settings: Settings;
  readonly host: Pick<Host, "warn">;
  states(): Promise<{ readonly backend: Backend }>;
}

/**
 * Returns what takes sends from the rate limit that all jobs with this API key share, if their
 * state is in one database.
 */
export function shareRate(session: Sharing, apiKey: Secret, perSecond: number) {
  let bucket: string | undefined;
  return async (sends: number): Promise<number> => {
    const { backend } = await session.states();
    if (backend.takeSends === undefined) throw new TypeError("a backend that cannot count sends");
    // The bucket's name must not allow guessing the key, so it is derived in the same way as
    // fingerprints.
    bucket ??= `${normalAddress(session.settings.baseUrl)} ${createFingerprinter(apiKey, "").keyCheck}`;
    return await backend.takeSends(bucket, sends, perSecond).catch((error: unknown) => {
      if (!(error instanceof StateFailure)) throw error;
      const { detail } = explainProblem(error.problem);
      session.host.warn([
        warning("rate-not-shared", "The rate limit is not shared with other jobs", detail),
      ]);
      throw error;
    });
  };
}
