import type { Answered } from "../../http/answered.ts";
import type { Environment } from "../../data/environment.ts";
import type { TestTarget } from "../../data/testTarget.ts";

/** A test target as answered: id, app, tags and environments, and nothing else that was written (Test target). */
export function testTargetView(target: TestTarget, environments: Iterable<Environment>): Answered {
  return {
    id: target.id,
    app: target.app,
    tags: target.tags,
    environments: Array.from(environments, summary),
  };
}

function summary({ id, type, discoveryUrl, emailPrefix, emailDomain }: Environment): Answered {
  const email =
    emailPrefix === undefined || emailDomain === undefined ? undefined : `${emailPrefix}@${emailDomain}`;
  return { id, type, discoveryUrl, email };
}
