import type { Environment, PrivateLocation } from "../data/environment.ts";
import { ok } from "../http/reply.ts";
import { type Read, type Reader, nullable, object } from "../read/reader.ts";
import { freeForm, text, webUrl } from "../read/values.ts";
import type { Service } from "../service.ts";
import { changed, changedOrCleared } from "./change.ts";
import { freshEnvironment } from "./freshEnvironment.ts";
import { environmentOf, testTargetOf } from "./lookup.ts";
import { type Operation, created } from "./operation.ts";
import { environmentView } from "./view/environment.ts";

const testAccount = object((fields) => ({
  username: fields.optional("username", text),
  password: fields.optional("password", text),
  otpInitializerKey: fields.optional("otpInitializerKey", text),
}));

const basicAuth = object((fields) => ({
  username: fields.optional("username", text),
  password: fields.optional("password", text),
}));

/** The request fields, where `plain` says whether the plain strings among them may be null. */
const body = (plain: (read: Reader<string>) => Reader<string | null>) =>
  object((fields) => ({
    name: fields.optional("name", plain(text)),
    discoveryUrl: fields.optional("discoveryUrl", plain(webUrl)),
    privateLocationName: fields.optional("privateLocationName", plain(text)),
    testAccount: fields.optional("testAccount", nullable(testAccount)),
    basicAuth: fields.optional("basicAuth", nullable(basicAuth)),
    additionalHeaderFields: fields.optional("additionalHeaderFields", nullable(freeForm)),
  }));

/** "On create, name, discoveryUrl and privateLocationName are plain (non-null) strings" (Environment). */
const creation = body((read) => read);
/** "On update, name, discoveryUrl and privateLocationName may also be null" (Environment). */
const update = body(nullable);

/** Operation 5: POST /test-targets/{testTargetId}/environments. The DEFAULT one came with the target. */
export const createEnvironment: Operation = (service, call) => {
  const target = testTargetOf(service, call);
  const fresh = freshEnvironment(service.world, target.id, "ADDITIONAL");
  const environment = withChanges(service, fresh, creation(call.body(), ""));
  service.store.environments.insert(environment);
  return created(service, environmentView(environment, service.settings()));
};

/** Operation 6: PATCH /test-targets/{testTargetId}/environments/{environmentId}, "Response 200". */
export const updateEnvironment: Operation = (service, call) => {
  const current = environmentOf(service, call, testTargetOf(service, call));
  const environment = withChanges(service, current, update(call.body(), ""));
  service.store.environments.update(environment);
  return ok(environmentView(environment, service.settings()));
};

/** Objects are replaced whole: a testAccount without a password has none afterwards. */
function withChanges(service: Service, current: Environment, given: Read<typeof update>): Environment {
  const updatedAt = service.world.now();
  return {
    ...current,
    name: changed(given.name, current.name),
    discoveryUrl: changedOrCleared(given.discoveryUrl, current.discoveryUrl),
    testAccount: changed(given.testAccount && { ...given.testAccount, updatedAt }, current.testAccount),
    basicAuth: changed(given.basicAuth && { ...given.basicAuth, updatedAt }, current.basicAuth),
    privateLocation: changedOrCleared(
      locationNamed(service, given.privateLocationName),
      current.privateLocation,
    ),
    additionalHeaderFields: changed(given.additionalHeaderFields, current.additionalHeaderFields),
    updatedAt,
  };
}

/** No operation makes private locations, so a name met for the first time makes one. */
function locationNamed(
  { store, world }: Service,
  name: string | null | undefined,
): PrivateLocation | null | undefined {
  if (name === null || name === undefined) return name;
  for (const { privateLocation } of store.environments.all())
    if (privateLocation?.name === name) return privateLocation;
  return { id: world.newId(), name, status: "ACTIVE", type: "PRIVATE" };
}
