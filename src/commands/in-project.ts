import type { ProjectNeeds, ProjectOptions } from "../app/project.ts";
import { type Session, withSession } from "../app/session.ts";
import type { Context } from "./context.ts";

/** Needs of commands that only read manifests. */
export const NO_SECRETS: ProjectNeeds = { needsApiKey: false, allowMissingSecrets: true };

/** Needs of commands that edit state, which do not depend on the contents of the manifests. */
export const STATE_NEEDS: ProjectNeeds = { ...NO_SECRETS, targets: "optional" };

/** Returns the work of a command as what it does with the project of its options. */
export function inProject<O extends ProjectOptions, R>(
  work: (session: Session, options: O, context: Context) => Promise<R>,
  needs?: ProjectNeeds,
): (options: O, context: Context) => Promise<R> {
  return (options, context) =>
    withSession(options, context.host, (session) => work(session, options, context), needs);
}
