import { type AnsweredJson, ok } from "./http.ts";
import { type Read, type Reader, freeForm, integer, nullable, object, text, webUrl } from "./input.ts";
import {
  type Operation,
  type Service,
  changed,
  changedOrCleared,
  created,
  environmentOf,
  openEnum,
  testTargetOf,
  updated,
} from "./service.ts";
import {
  type Environment,
  type PrivateLocation,
  type TestTarget,
  type ServerRuntime,
  trackerIntegration,
} from "./resources.ts";
import type { Settings } from "./settings.ts";

/** Operation 1: GET /test-targets. */
export const listTestTargets: Operation = (service) => ({
  kind: "list",
  status: 200,
  items: Array.from(service.store.testTargets.all(), (target) => view(service, target)),
});

/** "Whether the inner fields are required: not shown": they are, so that leaving one out is noticed. */
const creation = object((fields) => ({
  testTarget: fields.required(
    "testTarget",
    object((inner) => ({
      app: inner.required("app", text),
      discoveryUrl: inner.required("discoveryUrl", webUrl),
    })),
  ),
}));

/** Operation 2: POST /test-targets. Also makes the target's DEFAULT environment, at the discoveryUrl. */
export const createTestTarget: Operation = (service, call) => {
  const { app, discoveryUrl } = creation(call.body(), "").testTarget;
  const target: TestTarget = {
    id: service.world.newId(),
    app,
    tags: [],
    testIdAttribute: undefined,
    trackerIntegration: undefined,
    timeoutPerStep: undefined,
    updatedAt: service.world.now(),
  };
  service.store.testTargets.insert(target);
  service.store.environments.insert({
    ...freshEnvironment(service.world, target.id, "DEFAULT"),
    discoveryUrl,
  });
  return created(service, view(service, target));
};

/** Operation 3: GET /test-targets/{testTargetId}. */
export const readTestTarget: Operation = (service, call) => ok(view(service, testTargetOf(service, call)));

const update = object((fields) => ({
  app: fields.optional("app", text),
  testIdAttribute: fields.optional("testIdAttribute", text),
  trackerIntegration: fields.optional("trackerIntegration", trackerIntegration),
  timeoutPerStep: fields.optional("timeoutPerStep", integer),
}));

/** Operation 4: PATCH /test-targets/{testTargetId}. */
export const updateTestTarget: Operation = (service, call) => {
  const current = testTargetOf(service, call);
  const given = update(call.body(), "");
  const target: TestTarget = {
    ...current,
    app: changed(given.app, current.app),
    testIdAttribute: changed(given.testIdAttribute, current.testIdAttribute),
    trackerIntegration: changed(given.trackerIntegration, current.trackerIntegration),
    timeoutPerStep: changed(given.timeoutPerStep, current.timeoutPerStep),
    updatedAt: service.world.now(),
  };
  service.store.testTargets.update(target);
  if (service.settings().patchTargetBody === "resource") return updated(service, view(service, target));
  return { kind: "empty", status: service.settings().updateStatus };
};

function view(service: Service, target: TestTarget): AnsweredJson {
  return testTargetView(target, service.store.environments.of(target.id));
}

const accountBody = object((fields) => ({
  username: fields.optional("username", text),
  password: fields.optional("password", text),
  otpInitializerKey: fields.optional("otpInitializerKey", text),
}));

const basicAuthBody = object((fields) => ({
  username: fields.optional("username", text),
  password: fields.optional("password", text),
}));

/** The request fields, where `plain` says whether the plain strings among them may be null. */
const body = (plain: (read: Reader<string>) => Reader<string | null>) =>
  object((fields) => ({
    name: fields.optional("name", plain(text)),
    discoveryUrl: fields.optional("discoveryUrl", plain(webUrl)),
    privateLocationName: fields.optional("privateLocationName", plain(text)),
    testAccount: fields.optional("testAccount", nullable(accountBody)),
    basicAuth: fields.optional("basicAuth", nullable(basicAuthBody)),
    additionalHeaderFields: fields.optional("additionalHeaderFields", nullable(freeForm)),
  }));

/** "On create, name, discoveryUrl and privateLocationName are plain (non-null) strings" (Environment). */
const creationEnvironments = body((read) => read);
/** "On update, name, discoveryUrl and privateLocationName may also be null" (Environment). */
const updateEnvironments = body(nullable);

/** Operation 5: POST /test-targets/{testTargetId}/environments. The DEFAULT one came with the target. */
export const createEnvironment: Operation = (service, call) => {
  const target = testTargetOf(service, call);
  const fresh = freshEnvironment(service.world, target.id, "ADDITIONAL");
  const environment = withChanges(service, fresh, creationEnvironments(call.body(), ""));
  service.store.environments.insert(environment);
  return created(service, environmentView(environment, service.settings()));
};

/** Operation 6: PATCH /test-targets/{testTargetId}/environments/{environmentId}, "Response 200". */
export const updateEnvironment: Operation = (service, call) => {
  const current = environmentOf(service, call, testTargetOf(service, call));
  const environment = withChanges(service, current, updateEnvironments(call.body(), ""));
  service.store.environments.update(environment);
  return ok(environmentView(environment, service.settings()));
};

/** Objects are replaced whole: a testAccount without a password has none afterwards. */
function withChanges(
  service: Service,
  current: Environment,
  given: Read<typeof updateEnvironments>,
): Environment {
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

/** An environment before anything is written to it; the service gives every one an address of its own. */
function freshEnvironment(
  world: ServerRuntime,
  testTargetId: string,
  type: Environment["type"],
): Environment {
  const id = world.newId();
  return {
    id,
    testTargetId,
    name: null,
    type,
    discoveryUrl: undefined,
    additionalHeaderFields: null,
    testAccount: null,
    basicAuth: null,
    emailDomain: "mail.example.com",
    emailPrefix: `env-${id.slice(0, 8)}`,
    enableCrossOriginIframes: false,
    privateLocation: undefined,
    updatedAt: world.now(),
  };
}

/** A test target as answered: id, app, tags and environments, and nothing else that was written (Test target). */
function testTargetView(target: TestTarget, environments: Iterable<Environment>): AnsweredJson {
  return {
    id: target.id,
    app: target.app,
    tags: target.tags,
    environments: Array.from(environments, summary),
  };
}

function summary({ id, type, discoveryUrl, emailPrefix, emailDomain }: Environment): AnsweredJson {
  const email =
    emailPrefix === undefined || emailDomain === undefined ? undefined : `${emailPrefix}@${emailDomain}`;
  return { id, type, discoveryUrl, email };
}

/**
 * An environment as answered (Environment, response fields). The table has `password` and `otpInitializerKey` among
 * them; secrets are still left out.
 */
function environmentView(environment: Environment, settings: Settings): AnsweredJson {
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

function accountView({
  username,
  updatedAt,
}: {
  username: string | undefined;
  updatedAt: string;
}): AnsweredJson {
  return { username, updatedAt };
}
