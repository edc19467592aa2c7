import type { Address } from "../model/address.ts";
import { sideBySide } from "../model/live.ts";
import type { MatchedTarget } from "../plan/matched-target.ts";
import { type CaseResult, resultsByCase } from "../plan/results.ts";
import type { LiveReport } from "../service/answers.ts";
import { isFinished, readReports, withResults } from "../service/reports.ts";
import { type Survey, survey } from "./survey.ts";
import { type Session, targetsNamed } from "./session.ts";

/** A managed target with the results of its test cases, by the id of the test case. */
export interface TargetResults {
  readonly key: string;
  readonly matched: MatchedTarget | undefined;
  readonly results: ReadonlyMap<string, readonly CaseResult[]>;
}

/**
 * Reads managed targets and their newest reports, the targets side by side.
 * @param word the key of a target; undefined for all
 * @param isEnough whether no older reports are needed
 */
export async function surveyResults(
  session: Session,
  word: string | undefined,
  isEnough: (finished: readonly LiveReport[]) => boolean,
): Promise<Survey & { readonly targets: readonly TargetResults[] }> {
  const wanted = targetsNamed(word, session.desired).map(({ key }) => key);
  const only = word === undefined ? [] : wanted.map((key) => `target.${key}`);
  const surveyed = await survey(session, { only });
  const client = session.client();
  const targets = await sideBySide(
    wanted.map(async (key): Promise<TargetResults> => {
      const matched = surveyed.planned.matched.get(key);
      const id = matched?.live?.id;
      if (id === undefined) return { key, matched, results: new Map() };
      const { reports } = await readReports(client.allReports(id), (read) =>
        isEnough(read.filter(isFinished)),
      );
      const finished = reports.filter(isFinished);
      const whole = await withResults(finished, (report) => client.getReport(id, report));
      return { key, matched, results: resultsByCase(whole) };
    }),
  );
  return { ...surveyed, targets };
}

/** Returns the results of a declared test case, the newest first. */
export function resultsOf({ matched, results }: TargetResults, address: Address) {
  return results.get(matched?.matches.get(address)?.live?.id ?? "") ?? [];
}
