import type { Answered } from "../../http/answered.ts";
import type { Environment } from "../../data/environment.ts";
import type { Settings } from "../../settings.ts";
import { openEnum } from "./openEnum.ts";

/**
 * An environment as answered (Environment, response fields). The table has `password` and `otpInitializerKey` among
 * them; secrets are left out all the same.
 */
export function environmentView(environment: Environment, settings: Settings): Answered {
  const { testAccount, basicAuth, privateLocation } = environment;
  return {
    id: environment.id,
    name: answeredName(environment, settings),
    type: environment.type,
    testTargetId: environment.testTargetId,
    updatedAt: environment.updatedAt,
    discoveryUrl: environment.discoveryUrl,
    additionalHeaderFields: environment.additionalHeaderFields,
    testAccount: testAccount && accountView(testAccount),
    basicAuth: basicAuth && accountView(basicAuth),
    emailDomain: environment.emailDomain,
    emailPrefix: environment.emailPrefix,
    enableCrossOriginIframes: environment.enableCrossOriginIframes,
    privateLocation: privateLocation && {
      id: privateLocation.id,
      name: privateLocation.name,
      status: openEnum(privateLocation.status, settings),
      type: openEnum(privateLocation.type, settings),
    },
  };
}

/** A request's name is any string, an answer's one of two: by default the answer keeps to its table. */
function answeredName({ name, type }: Environment, settings: Settings): string {
  if (settings.environmentName === "given") return name ?? type;
  return name === "DEFAULT" || name === "ADDITIONAL" ? name : type;
}

function accountView({ username, updatedAt }: { username: string | undefined; updatedAt: string }): Answered {
  return { username, updatedAt };
}
