// The tests' own service, written only from service-api.md. It keeps everything in memory and
// records every request. A request that service-api.md does not describe is recorded as a
// violation. Behaviour that it calls "not shown" is an option, so that a test can try each way in
// which the real service may behave.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isList, isObject, parseJson, some, type Json, type JsonObject } from "./support/json.ts";

export interface Logged {
  readonly method: string;
  /** The path from `/apiKey/v3` on, or the whole path if it is outside of that. */
  readonly path: string;
  readonly query: string;
  readonly key: string | undefined;
  readonly body: Json | undefined;
  readonly headers: IncomingMessage["headers"];
  /** Time at which the request had been read, in milliseconds of a monotonic clock. */
  readonly time: number;
}

export interface FakeElement {
  id: string;
  interaction: JsonObject | null;
  assertion: JsonObject | null;
  selectors: JsonObject[];
  ignoreFailure: boolean;
  locatorLine?: string;
}

export interface FakeCase {
  id: string;
  description: string;
  status: string;
  runStatus: string;
  entryPointUrlPath: string | null;
  folderId: string | null;
  externalId: string | null;
  tags: string[];
  type: string | null;
  prerequisiteId: string | null;
  elements: FakeElement[];
  prompt: string | undefined;
  interactionStatus: string | undefined;
  discoveryStatus: string;
}

export interface FakeEnvironment {
  id: string;
  type: "DEFAULT" | "ADDITIONAL";
  discoveryUrl: string | null;
  name: string | null;
  testAccount: JsonObject | null;
  basicAuth: JsonObject | null;
  privateLocationName: string | null;
  additionalHeaderFields: JsonObject | null;
}

export interface FakeTarget {
  id: string;
  app: string;
  testIdAttribute?: string;
  timeoutPerStep?: number;
  trackerIntegration?: JsonObject;
  environments: FakeEnvironment[];
  cases: FakeCase[];
  folders: Map<string, string>;
  batches: JsonObject[];
}

export interface FakeOptions {
  readonly apiKey?: string;
  /** Path before `/apiKey`, e.g. `/tenant/a`. */
  readonly basePath?: string;
  /** How a creation answers. `empty` is 204 without a body, `blank` 200 without one. */
  readonly post?: 200 | 201 | "empty" | "blank";
  /** How a change answers. `shapeless` is 200 with `{}`. */
  readonly patch?: 200 | "empty" | "blank" | "shapeless";
  readonly freePrompt?: boolean;
  /** Whether the list shows `discovery` at all. */
  readonly discovery?: boolean;
  /** Whether the list shows the type of a discovery. */
  readonly showType?: boolean;
  /** Unknown fields and enum values everywhere. */
  readonly extras?: boolean;
  /** Fields that the service itself sets on a test case created by a discovery. */
  readonly made?: Partial<FakeCase>;
  /** How the service applies a list of elements in a PATCH. */
  readonly elements?: "replace" | "merge";
  /** Whether a PATCH with a prompt generates the elements again. */
  readonly regenerates?: boolean;
}

export interface Match {
  readonly method?: string;
  readonly path?: RegExp;
}

export type Answer =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** Headers that depend on when the answer is sent. */
      readonly headersNow?: () => Readonly<Record<string, string>>;
      readonly body?: string | Uint8Array;
    }
  | { readonly kind: "reset" }
  | { readonly kind: "truncate" }
  | { readonly kind: "hang" };

export interface Fault {
  readonly on: Match;
  /** The first matching request that fails, counted from 1. */
  readonly nth?: number;
  /** How many matching requests fail; default 1. */
  readonly times?: number;
  /** Whether the service acts before it fails. */
  readonly phase: "before" | "after";
  readonly answer: Answer;
}

export interface Hold {
  readonly arrived: Promise<void>;
  release(): void;
}

type Check = (value: Json, where: string) => string[];
type Shape = Readonly<Record<string, Check>>;

const ROOT = "/apiKey/v3";
const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

const string: Check = (value, where) =>
  typeof value === "string" ? [] : [`${where} is no string`];
const integer: Check = (value, where) =>
  Number.isInteger(value) ? [] : [`${where} is no integer`];
const boolean: Check = (value, where) =>
  typeof value === "boolean" ? [] : [`${where} is no boolean`];
const free: Check = (value, where) => (isObject(value) ? [] : [`${where} is no object`]);
const url: Check = (value, where) =>
  typeof value === "string" && URL.canParse(value) ? [] : [`${where} is no URL`];
const uuid: Check = (value, where) =>
  typeof value === "string" && new RegExp(`^${UUID}$`, "u").test(value)
    ? []
    : [`${where} is no uuid`];

function nullable(check: Check): Check {
  return (value, where) => (value === null ? [] : check(value, where));
}

function oneOf(...allowed: readonly string[]): Check {
  return (value, where) =>
    typeof value === "string" && allowed.includes(value)
      ? []
      : [`${where} is none of ${allowed.join(", ")}`];
}

function listOf(check: Check): Check {
  return (value, where) =>
    isList(value)
      ? value.flatMap((item, n) => check(item, `${where}[${n}]`))
      : [`${where} is no list`];
}

function shape(fields: Shape, required: readonly string[] = []): Check {
  return (value, where) => {
    if (!isObject(value)) return [`${where} is no object`];
    const wrong = Object.entries(value).flatMap(([name, item]) => {
      const check = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return check === undefined
        ? [`${where}.${name} is not in the interface`]
        : check(item, `${where}.${name}`);
    });
    const missing = required.filter((name) => !Object.hasOwn(value, name));
    return [...wrong, ...missing.map((name) => `${where}.${name} is required`)];
  };
}

const testAccount = nullable(
  shape({ username: string, password: string, otpInitializerKey: string }),
);
const basicAuth = nullable(shape({ username: string, password: string }));

const BODIES = {
  createTarget: shape({ testTarget: shape({ app: string, discoveryUrl: string }) }, ["testTarget"]),
  updateTarget: shape({
    app: string,
    testIdAttribute: string,
    trackerIntegration: shape({ domain: url, username: string, projectId: string, apiKey: string }),
    timeoutPerStep: integer,
  }),
  createEnvironment: shape({
    name: string,
    discoveryUrl: url,
    testAccount,
    basicAuth,
    privateLocationName: string,
    additionalHeaderFields: nullable(free),
  }),
  updateEnvironment: shape({
    name: nullable(string),
    discoveryUrl: nullable(url),
    testAccount,
    basicAuth,
    privateLocationName: nullable(string),
    additionalHeaderFields: nullable(free),
  }),
  updateCase: shape({
    elements: listOf(
      shape({
        id: uuid,
        index: integer,
        interaction: nullable(
          shape({ id: uuid, action: string, calledWith: string, testCaseElementId: uuid }),
        ),
        assertion: nullable(
          shape({ id: uuid, expectation: string, calledWith: string, testCaseElementId: uuid }),
        ),
        selectors: listOf(
          shape({
            id: uuid,
            index: integer,
            selector: string,
            selectorType: string,
            options: free,
            testCaseElementId: uuid,
          }),
        ),
        testCaseId: uuid,
        ignoreFailure: boolean,
      }),
    ),
    description: string,
    entryPointUrlPath: nullable(string),
    status: oneOf("ENABLED", "DISABLED", "DRAFT", "OUTDATED", "PROVISIONAL"),
    runStatus: oneOf("ON", "OFF"),
    folderName: nullable(string),
    interactionStatus: oneOf("NEW", "EDITED", "APPROVED", "REJECTED"),
    createBackendDiscoveryPrompt: string,
    assignedTagNames: listOf(string),
    externalId: nullable(string),
  }),
  updateElement: shape({ locatorLine: string }, ["locatorLine"]),
  createDiscovery: shape(
    {
      name: string,
      prompt: string,
      entryPointUrlPath: string,
      prerequisiteName: string,
      externalId: string,
      tagNames: listOf(string),
      folderName: string,
      type: oneOf("LOGIN", "COOKIE_BANNER"),
    },
    ["name", "prompt"],
  ),
  createBatch: shape({
    prompt: string,
    imageUrls: listOf(string),
    entryPointUrlPath: nullable(string),
    environmentId: nullable(string),
    prerequisiteId: nullable(string),
    baseUrl: nullable(string),
    context: free,
  }),
} satisfies Record<string, Check>;

interface Reply {
  readonly status: number;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Route {
  readonly method: string;
  readonly pattern: RegExp;
  readonly body?: Check;
  readonly query?: readonly string[];
  readonly run: (ids: readonly string[], body: JsonObject) => Reply;
}

interface ArmedFault {
  readonly fault: Fault;
  matched: number;
}

interface ArmedHold {
  readonly on: Match;
  readonly phase: "before" | "after";
  readonly arrive: () => void;
  readonly released: Promise<void>;
  used: boolean;
}

const missing: Reply = { status: 404, body: { message: "there is nothing here" } };

export function answer(
  status: number,
  body?: string | Uint8Array,
  headers?: Readonly<Record<string, string>>,
): Answer {
  return {
    kind: "answer",
    status,
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  };
}

export class FakeService {
  readonly options: FakeOptions;
  readonly log: Logged[] = [];
  readonly violations: string[] = [];
  readonly targets: FakeTarget[] = [];
  /** The largest number of requests in flight at the same time. */
  mostAtOnce = 0;
  apiKey: string;
  #server: Server | undefined;
  #port = 0;
  #ids = 0;
  #time = Date.UTC(2026, 0, 1);
  #open = 0;
  #faults: ArmedFault[] = [];
  #holds: ArmedHold[] = [];
  readonly #routes: readonly Route[];

  constructor(options: FakeOptions = {}) {
    this.options = options;
    this.apiKey = options.apiKey ?? "service-key-4711";
    this.#routes = this.#makeRoutes();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}${this.options.basePath ?? ""}`;
  }

  async start(): Promise<this> {
    const server = createServer((request, response) => {
      void this.#serve(request, response);
    });
    server.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    this.#port = address.port;
    this.#server = server;
    return this;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  }

  // For assertions.

  reads(): readonly string[] {
    return this.log.filter((call) => call.method === "GET").map((call) => call.path);
  }

  writes(): readonly JsonObject[] {
    return this.log
      .filter((call) => call.method !== "GET")
      .map((call) => ({ method: call.method, path: call.path, body: call.body ?? null }));
  }

  forget(): void {
    this.log.length = 0;
  }

  target(app: string): FakeTarget {
    return some(
      this.targets.find((target) => target.app === app),
      `target ${app}`,
    );
  }

  case(target: FakeTarget, description: string): FakeCase {
    return some(
      target.cases.find((item) => item.description === description),
      `case ${description}`,
    );
  }

  // For the setup of a test.

  addTarget(app: string, discoveryUrl: string | null = "https://shop.example.com"): FakeTarget {
    const target: FakeTarget = {
      id: this.id(),
      app,
      environments: [],
      cases: [],
      folders: new Map(),
      batches: [],
    };
    this.targets.push(target);
    this.addEnvironment(target, { type: "DEFAULT", discoveryUrl });
    return target;
  }

  addEnvironment(target: FakeTarget, given: Partial<FakeEnvironment> = {}): FakeEnvironment {
    const environment: FakeEnvironment = {
      id: this.id(),
      type: "ADDITIONAL",
      discoveryUrl: null,
      name: null,
      testAccount: null,
      basicAuth: null,
      privateLocationName: null,
      additionalHeaderFields: null,
      ...given,
    };
    target.environments.push(environment);
    return environment;
  }

  addCase(
    target: FakeTarget,
    given: Partial<FakeCase> & { readonly description: string },
  ): FakeCase {
    const made: FakeCase = {
      id: this.id(),
      status: "ENABLED",
      runStatus: "ON",
      entryPointUrlPath: null,
      folderId: null,
      externalId: null,
      tags: [],
      type: null,
      prerequisiteId: null,
      elements: [],
      prompt: undefined,
      interactionStatus: undefined,
      discoveryStatus: "CREATED",
      ...given,
    };
    target.cases.push(made);
    return made;
  }

  element(given: Partial<FakeElement> = {}): FakeElement {
    return {
      id: this.id(),
      interaction: null,
      assertion: null,
      selectors: [],
      ignoreFailure: false,
      ...given,
    };
  }

  selector(selectorType: string, selector: string, options?: JsonObject): JsonObject {
    return { id: this.id(), selectorType, selector, ...(options === undefined ? {} : { options }) };
  }

  folder(target: FakeTarget, name: string): string {
    const known = target.folders.get(name) ?? this.id();
    target.folders.set(name, known);
    return known;
  }

  fail(fault: Fault): void {
    this.#faults.push({ fault, matched: 0 });
  }

  /** Removes all faults. */
  clearFaults(): void {
    this.#faults = [];
  }

  /** Holds back the next matching request until it is released. */
  hold(on: Match, phase: "before" | "after" = "before"): Hold {
    const arrival = signal();
    const leave = signal();
    this.#holds.push({ on, phase, arrive: arrival.give, released: leave.given, used: false });
    return { arrived: arrival.given, release: leave.give };
  }

  id(): string {
    this.#ids += 1;
    return `5e2f1c00-0000-4000-8000-${this.#ids.toString(16).padStart(12, "0")}`;
  }

  // Serving.

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#open);
    let counted = true;
    const leave = (): void => {
      if (counted) this.#open -= 1;
      counted = false;
    };
    response.once("close", leave);
    request.on("error", () => undefined);
    try {
      const logged = await this.#read(request);
      this.log.push(logged);
      await this.#answer(logged, request, response);
    } catch (error) {
      this.violations.push(`the checker's own service failed: ${String(error)}`);
      response.destroy();
    } finally {
      if (response.writableEnded) leave();
    }
  }

  async #read(request: IncomingMessage): Promise<Logged> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) if (chunk instanceof Buffer) chunks.push(chunk);
    const raw = Buffer.concat(chunks).toString("utf8");
    const address = new URL(request.url ?? "/", "http://localhost");
    const base = `${this.options.basePath ?? ""}${ROOT}`;
    const path = address.pathname.startsWith(`${base}/`)
      ? address.pathname.slice(base.length - ROOT.length)
      : address.pathname;
    const key = request.headers["x-api-key"];
    if (raw !== "" && !/^application\/json\b/u.test(request.headers["content-type"] ?? ""))
      this.violations.push(`${request.method} ${path}: a body that is not application/json`);
    return {
      method: request.method ?? "",
      path,
      query: address.search,
      key: typeof key === "string" ? key : undefined,
      body: raw === "" ? undefined : this.#parse(raw, path),
      headers: request.headers,
      time: performance.now(),
    };
  }

  #parse(raw: string, path: string): Json {
    try {
      return parseJson(raw);
    } catch {
      this.violations.push(`${path}: a body that is not JSON: ${raw}`);
      return raw;
    }
  }

  async #answer(logged: Logged, request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.#pause(logged, "before");
    const fault = this.#hit(logged);
    if (fault?.phase === "before") {
      this.#send(fault.answer, { status: 200, body: [] }, request, response);
      return;
    }
    const reply = this.#act(logged);
    await this.#pause(logged, "after");
    if (fault !== undefined) this.#send(fault.answer, reply, request, response);
    else this.#reply(this.#shaped(logged, reply), response);
  }

  async #pause(logged: Logged, phase: "before" | "after"): Promise<void> {
    const hold = this.#holds.find(
      (item) => !item.used && item.phase === phase && matches(item.on, logged),
    );
    if (hold === undefined) return;
    hold.used = true;
    hold.arrive();
    await hold.released;
  }

  #hit(logged: Logged): Fault | undefined {
    let found: Fault | undefined;
    for (const armed of this.#faults) {
      if (!matches(armed.fault.on, logged)) continue;
      armed.matched += 1;
      const first = armed.fault.nth ?? 1;
      if (armed.matched >= first && armed.matched < first + (armed.fault.times ?? 1))
        found ??= armed.fault;
    }
    return found;
  }

  #send(how: Answer, reply: Reply, request: IncomingMessage, response: ServerResponse): void {
    switch (how.kind) {
      case "reset":
        request.socket.resetAndDestroy();
        return;
      case "hang":
        return;
      case "truncate": {
        const whole = JSON.stringify(reply.body ?? {});
        response.writeHead(reply.status, {
          "content-type": "application/json",
          "content-length": `${Buffer.byteLength(whole) + 40}`,
        });
        response.write(whole.slice(0, Math.ceil(whole.length / 2)), () => request.socket.destroy());
        return;
      }
      case "answer":
        response.writeHead(how.status, {
          "content-type": "text/plain",
          ...how.headers,
          ...how.headersNow?.(),
        });
        response.end(how.body ?? "");
        return;
    }
  }

  #reply(reply: Reply, response: ServerResponse): void {
    if (reply.body === undefined) {
      response.writeHead(reply.status, reply.headers);
      response.end();
      return;
    }
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(JSON.stringify(this.options.extras === true ? decorate(reply.body) : reply.body));
  }

  /** Turns a success into the form of answer that the options ask for. */
  #shaped(logged: Logged, reply: Reply): Reply {
    if (reply.status !== 200) return reply;
    const { post = 200, patch = 200 } = this.options;
    if (logged.method === "POST") return post === 200 ? reply : blanked(reply, post);
    if (logged.method === "PATCH") return patch === 200 ? reply : blanked(reply, patch);
    return reply;
  }

  #act(logged: Logged): Reply {
    const where = `${logged.method} ${logged.path}`;
    if (logged.key === undefined) {
      this.violations.push(`${where}: no X-API-Key`);
      return { status: 401, body: { message: "a key is needed" } };
    }
    if (logged.key !== this.apiKey)
      return { status: 401, body: { message: "this key is not known" } };
    for (const route of this.#routes) {
      const found = route.pattern.exec(logged.path);
      if (found === null || route.method !== logged.method) continue;
      return this.#run(route, found.slice(1), logged, where);
    }
    this.violations.push(`${where}: not in the interface`);
    return missing;
  }

  #run(route: Route, ids: readonly string[], logged: Logged, where: string): Reply {
    const query = [...new URLSearchParams(logged.query).keys()];
    const unknown = query.filter((name) => !(route.query ?? []).includes(name));
    const wrong = unknown.map((name) => `query parameter ${name} is not in the interface`);
    if (route.body === undefined) {
      if (logged.body !== undefined) wrong.push("a body where there is none");
    } else {
      wrong.push(...route.body(logged.body ?? null, "body"));
    }
    if (wrong.length > 0) {
      this.violations.push(...wrong.map((problem) => `${where}: ${problem}`));
      return { status: 400, body: { message: wrong.join("; ") } };
    }
    return route.run(ids, isObject(logged.body) ? logged.body : {});
  }

  #makeRoutes(): readonly Route[] {
    const id = `(${UUID})`;
    const under = (rest: string): RegExp => new RegExp(`^${ROOT}/test-targets/${id}${rest}$`, "u");
    const all = new RegExp(`^${ROOT}/test-targets$`, "u");
    const inTarget =
      (
        run: (target: FakeTarget, ids: readonly string[], body: JsonObject) => Reply,
      ): Route["run"] =>
      (ids, body) => {
        const target = this.targets.find((item) => item.id === ids[0]);
        return target === undefined ? missing : run(target, ids, body);
      };
    const get = (pattern: RegExp, run: Route["run"], query: readonly string[] = []): Route => ({
      method: "GET",
      pattern,
      query,
      run,
    });
    return [
      get(all, () => ({ status: 200, body: this.targets.map(showTarget) })),
      {
        method: "POST",
        pattern: all,
        body: BODIES.createTarget,
        run: (_, body) => this.#createTarget(body),
      },
      get(
        under(""),
        inTarget((target) => ({ status: 200, body: showTarget(target) })),
      ),
      {
        method: "PATCH",
        pattern: under(""),
        body: BODIES.updateTarget,
        run: inTarget((target, _, body) => updateTarget(target, body)),
      },
      {
        method: "POST",
        pattern: under("/environments"),
        body: BODIES.createEnvironment,
        run: inTarget((target, _, body) => this.#createEnvironment(target, body)),
      },
      {
        method: "PATCH",
        pattern: under(`/environments/${id}`),
        body: BODIES.updateEnvironment,
        run: inTarget((target, ids, body) => this.#updateEnvironment(target, ids[1], body)),
      },
      get(
        under("/test-cases"),
        inTarget((target) => ({
          status: 200,
          body: target.cases.map((item) => this.#showCase(target, item, true)),
        })),
        ["filter"],
      ),
      {
        method: "PATCH",
        pattern: under(`/test-cases/${id}`),
        body: BODIES.updateCase,
        run: inTarget((target, ids, body) => this.#updateCase(target, ids[1], body)),
      },
      {
        method: "PATCH",
        pattern: under(`/test-cases/${id}/elements/${id}`),
        body: BODIES.updateElement,
        run: inTarget((target, ids, body) => this.#updateElement(target, ids, body)),
      },
      {
        method: "POST",
        pattern: under("/discoveries"),
        body: BODIES.createDiscovery,
        run: inTarget((target, _, body) => this.#createDiscovery(target, body)),
      },
      {
        method: "POST",
        pattern: under("/batch-generations"),
        body: BODIES.createBatch,
        run: inTarget((target, _, body) => this.#createBatch(target, body)),
      },
      get(
        under("/test-reports"),
        inTarget(() => ({ status: 200, body: { data: [], key: {}, hasNextPage: false } })),
      ),
      get(under(`/test-reports/${id}`), () => missing),
      get(
        under("/notifications"),
        inTarget(() => ({ status: 200, body: [] })),
      ),
    ];
  }

  #createTarget(body: JsonObject): Reply {
    const given = isObject(body["testTarget"]) ? body["testTarget"] : {};
    const target = this.addTarget(
      nullableText(given["app"]) ?? "",
      nullableText(given["discoveryUrl"]),
    );
    return { status: 200, body: showTarget(target) };
  }

  #createEnvironment(target: FakeTarget, body: JsonObject): Reply {
    const environment = this.addEnvironment(target);
    setEnvironment(environment, body);
    return { status: 200, body: this.#showEnvironment(target, environment) };
  }

  #updateEnvironment(target: FakeTarget, id: string | undefined, body: JsonObject): Reply {
    const environment = target.environments.find((item) => item.id === id);
    if (environment === undefined) return missing;
    setEnvironment(environment, body);
    return { status: 200, body: this.#showEnvironment(target, environment) };
  }

  #updateCase(target: FakeTarget, id: string | undefined, body: JsonObject): Reply {
    const found = target.cases.find((item) => item.id === id);
    if (found === undefined) return missing;
    const { description, status, runStatus, interactionStatus, assignedTagNames: tags } = body;
    if (typeof description === "string") found.description = description;
    if (typeof status === "string") found.status = status;
    if (typeof runStatus === "string") found.runStatus = runStatus;
    if (typeof interactionStatus === "string") found.interactionStatus = interactionStatus;
    if (isList(tags)) found.tags = tags.map(String);
    if ("entryPointUrlPath" in body)
      found.entryPointUrlPath = nullableText(body["entryPointUrlPath"]);
    if ("externalId" in body) found.externalId = nullableText(body["externalId"]);
    if ("folderName" in body) {
      const name = nullableText(body["folderName"]);
      found.folderId = name === null ? null : this.folder(target, name);
    }
    if (isList(body["elements"])) found.elements = this.#takeElements(found, body["elements"]);
    const prompt = body["createBackendDiscoveryPrompt"];
    if (typeof prompt === "string") {
      found.prompt = prompt;
      if (this.options.regenerates === true)
        found.elements = [this.element({ interaction: { id: this.id(), action: "CLICK" } })];
    }
    return { status: 200, body: this.#showCase(target, found, false) };
  }

  #takeElements(found: FakeCase, given: readonly Json[]): FakeElement[] {
    return given.map((value) => {
      const item = isObject(value) ? value : {};
      const old = found.elements.find((element) => element.id === item["id"]);
      const keep = this.options.elements === "merge" ? old : undefined;
      const part = (name: "interaction" | "assertion"): JsonObject | null => {
        const content = item[name];
        if (content === undefined) return keep?.[name] ?? null;
        return isObject(content) ? { id: this.id(), ...content } : null;
      };
      const selectors = isList(item["selectors"])
        ? item["selectors"].map((entry) => ({ id: this.id(), ...(isObject(entry) ? entry : {}) }))
        : (keep?.selectors ?? []);
      return {
        id: old?.id ?? this.id(),
        interaction: part("interaction"),
        assertion: part("assertion"),
        selectors,
        ignoreFailure:
          typeof item["ignoreFailure"] === "boolean"
            ? item["ignoreFailure"]
            : (keep?.ignoreFailure ?? false),
      };
    });
  }

  #updateElement(target: FakeTarget, ids: readonly string[], body: JsonObject): Reply {
    const found = target.cases.find((item) => item.id === ids[1]);
    const index = found?.elements.findIndex((item) => item.id === ids[2]) ?? -1;
    const element = found?.elements[index];
    if (found === undefined || element === undefined) return missing;
    const line = nullableText(body["locatorLine"]) ?? "";
    element.locatorLine = line;
    element.selectors = [this.selector("LOCATOR", `made of ${line}`)];
    return { status: 200, body: this.#showElement(found, element, index, false) };
  }

  #createDiscovery(target: FakeTarget, body: JsonObject): Reply {
    const before = nullableText(body["prerequisiteName"]);
    const prerequisite =
      before === null ? undefined : target.cases.find((item) => item.description === before);
    if (before !== null && prerequisite === undefined)
      this.violations.push(
        `a discovery names the prerequisite "${before}", which is not there yet`,
      );
    const folder = nullableText(body["folderName"]);
    const made = this.addCase(target, {
      description: nullableText(body["name"]) ?? "",
      prompt: nullableText(body["prompt"]) ?? "",
      status: "DRAFT",
      runStatus: "OFF",
      entryPointUrlPath: nullableText(body["entryPointUrlPath"]),
      externalId: nullableText(body["externalId"]),
      tags: isList(body["tagNames"]) ? body["tagNames"].map(String) : [],
      folderId: folder === null ? null : this.folder(target, folder),
      type: nullableText(body["type"]),
      prerequisiteId: prerequisite?.id ?? null,
      ...this.options.made,
    });
    return { status: 200, body: { discoveryId: this.id(), testCaseId: made.id } };
  }

  #createBatch(target: FakeTarget, body: JsonObject): Reply {
    target.batches.push(body);
    return { status: 200, body: { batchGenerationId: this.id() } };
  }

  #now(): string {
    this.#time += 1000;
    return new Date(this.#time).toISOString();
  }

  #showEnvironment(target: FakeTarget, environment: FakeEnvironment): JsonObject {
    const account = (given: JsonObject | null): Json =>
      given === null ? null : { ...given, updatedAt: this.#now() };
    return {
      id: environment.id,
      name: environment.type,
      type: environment.type,
      testTargetId: target.id,
      updatedAt: this.#now(),
      ...(environment.discoveryUrl === null ? {} : { discoveryUrl: environment.discoveryUrl }),
      additionalHeaderFields: environment.additionalHeaderFields,
      testAccount: account(environment.testAccount),
      basicAuth: account(environment.basicAuth),
      emailDomain: "mail.example.com",
      emailPrefix: "shop",
      enableCrossOriginIframes: false,
    };
  }

  #showElement(of: FakeCase, element: FakeElement, index: number, inList: boolean): JsonObject {
    const scroll = inList ? { scrollState: { id: this.id(), x: 0, y: this.#ids } } : {};
    return {
      id: element.id,
      index,
      interaction:
        element.interaction === null
          ? null
          : { ...element.interaction, testCaseElementId: element.id },
      assertion:
        element.assertion === null ? null : { ...element.assertion, testCaseElementId: element.id },
      ...scroll,
      selectors: element.selectors.map((selector, n) => ({
        ...selector,
        index: n,
        testCaseElementId: element.id,
        ...(inList ? { scrollStateId: this.id() } : {}),
      })),
      testCaseId: of.id,
      ignoreFailure: element.ignoreFailure,
    };
  }

  #showCase(target: FakeTarget, item: FakeCase, inList: boolean): JsonObject {
    const { freePrompt = true, discovery = true, showType = true } = this.options;
    const shownPrompt = freePrompt && item.prompt !== undefined ? { freePrompt: item.prompt } : {};
    const listOnly: JsonObject = inList
      ? {
          type: showType ? item.type : null,
          createdBy: "EDIT",
          prerequisiteId: item.prerequisiteId,
          proposalRunId: null,
          teardownTestCaseId: null,
          ...(discovery
            ? {
                discovery:
                  item.prompt === undefined
                    ? null
                    : { updatedAt: this.#now(), status: item.discoveryStatus, ...shownPrompt },
              }
            : {}),
        }
      : {};
    return {
      id: item.id,
      testTargetId: target.id,
      description: item.description,
      status: item.status,
      runStatus: item.runStatus,
      createdAt: this.#now(),
      updatedAt: this.#now(),
      entryPointUrlPath: item.entryPointUrlPath,
      elements: item.elements.map((element, n) => this.#showElement(item, element, n, inList)),
      folderId: item.folderId,
      externalId: item.externalId,
      tags: item.tags,
      ...listOnly,
    };
  }
}

/** A promise and the function that resolves it. */
function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  const resolvers: (() => void)[] = [];
  const given = new Promise<void>((resolve) => {
    resolvers.push(resolve);
  });
  return {
    given,
    give: () => {
      for (const resolve of resolvers) resolve();
    },
  };
}

function matches(on: Match, call: Logged): boolean {
  return (on.method ?? call.method) === call.method && (on.path?.test(call.path) ?? true);
}

function blanked(reply: Reply, how: 201 | "empty" | "blank" | "shapeless"): Reply {
  switch (how) {
    case 201:
      return { ...reply, status: 201 };
    case "empty":
      return { status: 204 };
    case "blank":
      return { status: 200 };
    case "shapeless":
      return { status: 200, body: {} };
  }
}

/** Adds an unknown field to every object, and sets the enum `createdBy` to an unknown value. */
function decorate(value: Json): Json {
  if (isList(value)) return value.map(decorate);
  if (!isObject(value)) return value;
  const inner = Object.entries(value).map(([name, item]): [string, Json] => {
    if (name === "createdBy") return [name, "COMMITTEE"];
    // Maps with free keys must not get extra entries.
    if (name === "additionalHeaderFields" || name === "options") return [name, item];
    return [name, decorate(item)];
  });
  return { ...Object.fromEntries(inner), notInTheText: { since: 2027, list: [1, null, "x"] } };
}

function nullableText(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function nullableObject(value: Json | undefined): JsonObject | null {
  return isObject(value) ? value : null;
}

function showTarget(target: FakeTarget): JsonObject {
  return {
    id: target.id,
    app: target.app,
    tags: ["web", null],
    environments: target.environments.map((environment) => ({
      id: environment.id,
      type: environment.type,
      ...(environment.discoveryUrl === null ? {} : { discoveryUrl: environment.discoveryUrl }),
      email: `inbox-${environment.id}@mail.example.com`,
    })),
  };
}

function updateTarget(target: FakeTarget, body: JsonObject): Reply {
  const { app, testIdAttribute, timeoutPerStep, trackerIntegration } = body;
  if (typeof app === "string") target.app = app;
  if (typeof testIdAttribute === "string") target.testIdAttribute = testIdAttribute;
  if (typeof timeoutPerStep === "number") target.timeoutPerStep = timeoutPerStep;
  // The service replaces the whole object.
  if (isObject(trackerIntegration)) target.trackerIntegration = trackerIntegration;
  return { status: 200, body: showTarget(target) };
}

function setEnvironment(environment: FakeEnvironment, body: JsonObject): void {
  if ("name" in body) environment.name = nullableText(body["name"]);
  if ("discoveryUrl" in body) environment.discoveryUrl = nullableText(body["discoveryUrl"]);
  if ("privateLocationName" in body)
    environment.privateLocationName = nullableText(body["privateLocationName"]);
  if ("testAccount" in body) environment.testAccount = nullableObject(body["testAccount"]);
  if ("basicAuth" in body) environment.basicAuth = nullableObject(body["basicAuth"]);
  if ("additionalHeaderFields" in body)
    environment.additionalHeaderFields = nullableObject(body["additionalHeaderFields"]);
}
