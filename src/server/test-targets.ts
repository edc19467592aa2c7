import { defined } from "../model/json.ts";
import type { AnsweredJson } from "./http.ts";
import * as v from "./input.ts";
import * as r from "./resources.ts";
import {
  type Operation,
  type Service,
  type TargetOperation,
  openEnum,
  ownedBy,
} from "./service.ts";

/** Operation 1: GET /test-targets. */
export const listTestTargets: Operation = (service) =>
  Array.from(service.store.testTargets.all(), (target) => view(service, target));

/**
 * "Whether the inner fields are required: not shown". Here they are, so that a missing one is
 * noticed.
 */
const creation = v.object({ testTarget: v.object({ app: v.text, discoveryUrl: v.webUrl }) });

/**
 * Operation 2: POST /test-targets. Also creates the target's DEFAULT environment, with the
 * discoveryUrl.
 */
export const createTestTarget: Operation = (service, call) => {
  const { app, discoveryUrl } = call.body(creation).testTarget;
  const target = r.fresh(r.testTargetReader, service.runtime, { app });
  service.store.testTargets.insert(target);
  service.store.environments.insert({
    ...freshEnvironment(service.runtime, target.id, "DEFAULT"),
    discoveryUrl,
  });
  return view(service, target);
};

/** Operation 3: GET /test-targets/{testTargetId}. */
export const readTestTarget: TargetOperation = (service, _, target) => view(service, target);

const update = v.object({
  app: v.optional(v.text),
  testIdAttribute: v.optional(v.text),
  trackerIntegration: v.optional(r.trackerIntegration),
  timeoutPerStep: v.optional(v.integer),
});

/** Operation 4: PATCH /test-targets/{testTargetId}. */
export const updateTestTarget: TargetOperation = (service, call, current) => {
  const target = { ...current, ...call.body(update), updatedAt: service.runtime.now() };
  service.store.testTargets.update(target);
  return service.settings.patchTargetBody === "resource" ? view(service, target) : undefined;
};

/** Returns a test target as answered: only id, app, tags and environments (Test target). */
function view({ store }: Service, { id, app, tags }: r.TestTarget): AnsweredJson {
  return { id, app, tags, environments: Array.from(store.environments.of(id), summary) };
}

/**
 * Returns a reader of the request fields; `plain` decides whether the plain strings among them may
 * be null.
 */
const environmentBody = (plain: (read: v.Reader<string>) => v.Reader<string | null>) =>
  v.object({
    name: v.optional(plain(v.text)),
    discoveryUrl: v.optional(plain(v.webUrl)),
    privateLocationName: v.optional(plain(v.text)),
    testAccount: v.optional(v.nullable(r.testAccountBody)),
    basicAuth: v.optional(v.nullable(r.basicAuthBody)),
    additionalHeaderFields: v.optional(v.nullable(v.freeForm)),
  });

/**
 * "On create, name, discoveryUrl and privateLocationName are plain (non-null) strings"
 * (Environment).
 */
const creationEnvironments = environmentBody((read) => read);
/** "On update, name, discoveryUrl and privateLocationName may also be null" (Environment). */
const updateEnvironments = environmentBody(v.nullable);

/**
 * Operation 5: POST /test-targets/{testTargetId}/environments. The DEFAULT one is created with the
 * target.
 */
export const createEnvironment: TargetOperation = (service, call, { id }) => {
  const made = freshEnvironment(service.runtime, id, "ADDITIONAL");
  const environment = withChanges(service, made, call.body(creationEnvironments));
  service.store.environments.insert(environment);
  return environmentView(environment, service.settings);
};

/** Operation 6: PATCH /test-targets/{testTargetId}/environments/{environmentId}, "Response 200". */
export const updateEnvironment: TargetOperation = (service, call, target) => {
  const { environments } = service.store;
  const current = ownedBy(target, environments.get(call.id("environmentId")), "environment");
  const environment = withChanges(service, current, call.body(updateEnvironments));
  environments.update(environment);
  return environmentView(environment, service.settings);
};

/**
 * Applies a request. Null clears. Objects are replaced as a whole: a testAccount without a password
 * has none afterwards.
 */
function withChanges(
  service: Service,
  current: r.Environment,
  given: v.Read<typeof updateEnvironments>,
) {
  const updatedAt = service.runtime.now();
  const { discoveryUrl, privateLocationName: name, testAccount, basicAuth, ...rest } = given;
  const after = <T>(sent: T | null | undefined, before: T | undefined) =>
    sent === undefined ? before : (sent ?? undefined);
  const stamped = <T extends object>(part: T | null) => part && { ...part, updatedAt };
  const privateLocation = typeof name === "string" ? locationNamed(service, name) : name;
  return defined({
    ...current,
    ...rest,
    discoveryUrl: after(discoveryUrl, current.discoveryUrl),
    privateLocation: after(privateLocation, current.privateLocation),
    testAccount: testAccount === undefined ? current.testAccount : stamped(testAccount),
    basicAuth: basicAuth === undefined ? current.basicAuth : stamped(basicAuth),
    updatedAt,
  });
}

/** Finds a private location by name. No operation creates one, so an unknown name does. */
function locationNamed({ store, runtime }: Service, name: string) {
  for (const { privateLocation } of store.environments.all())
    if (privateLocation?.name === name) return privateLocation;
  return r.fresh(r.privateLocationReader, runtime, { name });
}

/**
 * Returns an environment before any values are written; the service gives each one an email address
 * of its own.
 */
function freshEnvironment(
  runtime: v.ServerRuntime,
  testTargetId: string,
  type: "DEFAULT" | "ADDITIONAL",
) {
  const environment = r.fresh(r.environmentReader, runtime, { testTargetId, type });
  const emailPrefix = `env-${environment.id.slice(0, 8)}`;
  return { ...environment, emailDomain: "mail.example.com", emailPrefix };
}

function summary({
  id,
  type,
  discoveryUrl,
  emailPrefix,
  emailDomain,
}: r.Environment): AnsweredJson {
  const hasEmail = emailPrefix !== undefined && emailDomain !== undefined;
  return { id, type, discoveryUrl, email: hasEmail ? `${emailPrefix}@${emailDomain}` : undefined };
}

/**
 * Returns an environment as answered (Environment, response fields), without the secrets that the
 * table lists.
 */
function environmentView(environment: r.Environment, settings: r.Settings): AnsweredJson {
  const {
    name,
    type,
    testAccount: account,
    basicAuth: auth,
    privateLocation,
    ...rest
  } = environment;
  const isListed = name === "DEFAULT" || name === "ADDITIONAL";
  return {
    ...rest,
    // A request's name is any string, an answer's is one of two; by default, the answer follows its
    // table.
    name: name !== null && (isListed || settings.environmentName === "given") ? name : type,
    type,
    testAccount: account && r.pick(account, "username", "updatedAt"),
    basicAuth: auth && r.pick(auth, "username", "updatedAt"),
    privateLocation: privateLocation && {
      ...privateLocation,
      status: openEnum(privateLocation.status, settings),
      type: openEnum(privateLocation.type, settings),
    },
  };
}
