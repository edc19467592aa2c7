import { type TestTarget, trackerIntegration } from "../data/testTarget.ts";
import type { Answered } from "../http/answered.ts";
import { ok } from "../http/reply.ts";
import { object } from "../read/reader.ts";
import { integer, text, webUrl } from "../read/values.ts";
import type { Service } from "../service.ts";
import { changed } from "./change.ts";
import { freshEnvironment } from "./freshEnvironment.ts";
import { testTargetOf } from "./lookup.ts";
import { type Operation, created, updated } from "./operation.ts";
import { testTargetView } from "./view/testTarget.ts";

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

function view(service: Service, target: TestTarget): Answered {
  return testTargetView(target, service.store.environments.of(target.id));
}
