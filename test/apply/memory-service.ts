import type { ApplyContext } from "../../src/apply/run.ts";
import { type Json, type JsonObject, isArray, isObject } from "../../src/model/json.ts";
import { type LiveNotification, element as readElement } from "../../src/service/answers.ts";
import { ServiceError } from "../../src/service/failure.ts";
import type { WriteCall } from "../../src/service/request.ts";
import type {
  LiveElement,
  LiveEnvironment,
  LiveTarget,
  LiveTestCase,
} from "../../src/model/live.ts";
import { BODIES, type Operation, Undescribed, operationOf } from "./described.ts";

/**
 * Settings of the in-memory service of service-api.md, one for each point that the text leaves
 * open.
 */
export interface Knobs {
  /** Whether the list of test cases shows a `discovery`, and with which prompt. */
  readonly discovery:
    "with prompt" | "with altered prompt" | "without prompt" | "slow to begin" | "null";
  readonly patchAnswer: "resource" | "nothing";
  /** Whether the answer to a PATCH shows `folderId`; otherwise only the list does. */
  readonly folderInPatchAnswer: boolean;
  readonly elementIdsInPatchAnswer: boolean;
  readonly postAnswer: "ids" | "nothing";
  readonly environmentsInTargetAnswer: boolean;
  /** Whether the service adds a slash to the end of a URL. */
  readonly trailingSlash: boolean;
  /** Whether answers leave out fields that are null. */
  readonly omitsNulls: boolean;
  /** The result of a generation. */
  readonly made: { readonly status: string; readonly runStatus: string; readonly elements: number };
  /**
   * Whether a generation ends before its call is answered, or only when `finishGenerations` is
   * called.
   */
  readonly generation: "at once" | "later";
  /** The index of the first element. */
  readonly firstIndex: 0 | 1;
}

export const PLAIN_KNOBS: Knobs = {
  discovery: "with prompt",
  patchAnswer: "resource",
  folderInPatchAnswer: true,
  elementIdsInPatchAnswer: true,
  postAnswer: "ids",
  environmentsInTargetAnswer: true,
  trailingSlash: false,
  omitsNulls: false,
  made: { status: "DRAFT", runStatus: "ON", elements: 0 },
  generation: "at once",
  firstIndex: 0,
};

export interface StoredTarget {
  readonly id: string;
  app: string;
  settings: JsonObject;
  environments: StoredEnvironment[];
  testCases: StoredTestCase[];
  readonly folders: Map<string, string>;
  readonly batchGenerations: JsonObject[];
  readonly notifications: { readonly id: string; readonly testCaseId: string }[];
}

export interface StoredEnvironment {
  readonly id: string;
  readonly type: "DEFAULT" | "ADDITIONAL";
  fields: JsonObject;
}

export interface StoredTestCase {
  readonly id: string;
  description: string;
  status: string;
  runStatus: string;
  interactionStatus: string | undefined;
  type: string | null;
  entryPointUrlPath: string | null;
  folder: string | null;
  externalId: string | null;
  tags: readonly string[];
  prerequisiteId: string | null;
  prompt: string;
  generating: boolean;
  /** Number of generations that have ended. */
  generated: number;
  elements: StoredElement[];
}

export interface StoredElement {
  readonly id: string;
  interaction: JsonObject | null;
  assertion: JsonObject | null;
  selectors: readonly JsonObject[];
  ignoreFailure: boolean | undefined;
  /** The locator line that was written last, and the selectors made from it. */
  line: string | undefined;
  madeOfLine: string | undefined;
}

/** A fault of a call: before or after the service acts, and what the client can know about it. */
export interface Fault {
  readonly when: "before" | "after";
  readonly acted: "no" | "maybe";
  readonly fatal?: boolean;
}

export interface LoggedCall {
  readonly operation: Operation;
  readonly method: string;
  readonly path: readonly string[];
  readonly body: JsonObject;
}

/** The process has ended: nothing is answered any more. */
export class Killed extends Error {}

type Client = ApplyContext["service"];

export class MemoryService implements Client {
  readonly targets: StoredTarget[] = [];
  /** All writes, including those that failed. */
  readonly calls: LoggedCall[] = [];
  /** Writes that took effect, whatever was answered. */
  readonly acted: LoggedCall[] = [];
  reads = 0;
  inFlight = 0;
  mostInFlight = 0;
  /** Called for every write with its number, starting from 0. */
  faultOf: (call: LoggedCall, nth: number) => Fault | "kill before" | "kill after" | undefined =
    () => undefined;
  failReads: () => boolean = () => false;
  killed = false;
  readonly knobs: Knobs;
  #ids = 0;

  constructor(knobs: Knobs = PLAIN_KNOBS) {
    this.knobs = knobs;
  }

  newId(kind: string): string {
    return `${kind}-${String(++this.#ids).padStart(4, "0")}`;
  }

  // Reads

  async listTargets(): Promise<readonly LiveTarget[]> {
    return this.#read(() => this.targets.map((target) => this.#showTarget(target)));
  }

  async listTestCases<T>(
    targetId: string,
    keep: (testCase: LiveTestCase) => T,
  ): Promise<readonly T[]> {
    return this.#read(() => this.#showTestCases(this.target(targetId)).map(keep));
  }

  async listNotifications(targetId: string): Promise<readonly LiveNotification[]> {
    const [type, createdAt, updatedAt] = ["DISCOVERY_FINISHED", "2026-01-01", "2026-01-01"];
    return this.#read(() =>
      this.target(targetId).notifications.map(({ id, testCaseId }) => ({
        id,
        type,
        createdAt,
        updatedAt,
        testTargetId: targetId,
        payload: { testCaseId },
        ack: undefined,
      })),
    );
  }

  async #read<T>(show: () => T): Promise<T> {
    await this.#takeTime(1);
    this.reads++;
    if (this.failReads()) throw failure({ when: "before", acted: "no" });
    return show();
  }

  target(id: string): StoredTarget {
    const found = this.targets.find((target) => target.id === id);
    if (found === undefined) throw new Undescribed(`there is not a test target ${id}`);
    return found;
  }

  // Writes

  async send({ method, path, body }: WriteCall): Promise<Json | undefined> {
    const operation = operationOf(method, path);
    if (!isObject(body)) throw new Undescribed("a body is no object");
    const call = { operation, method, path, body };
    const nth = this.calls.push(call) - 1;
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
    await this.#takeTime(1 + (nth % 3));
    this.inFlight--;
    return this.#answer(call, this.faultOf(call, nth));
  }

  #answer(call: LoggedCall, fault: ReturnType<MemoryService["faultOf"]>): Json | undefined {
    BODIES[call.operation](call.body, call.operation);
    if (fault === "kill before") this.#kill();
    if (typeof fault === "object" && fault.when === "before") throw failure(fault);
    const answer = this.#act(call);
    if (fault === "kill after") this.#kill();
    if (typeof fault === "object") throw failure(fault);
    const answers =
      call.method === "POST"
        ? this.knobs.postAnswer === "ids"
        : this.knobs.patchAnswer === "resource";
    return answers ? answer : undefined;
  }

  #kill(): never {
    this.killed = true;
    throw new Killed("the process is gone");
  }

  /** Lets other calls take their turn, as on a network. */
  async #takeTime(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    if (this.killed) throw new Killed("the process is gone");
  }

  #act(call: LoggedCall): Json {
    const { operation, path, body } = call;
    this.acted.push(call);
    const [, , , targetId = "", , id = "", , elementId = ""] = path;
    if (operation === "createTarget") return this.#createTarget(body);
    const target = this.target(targetId);
    switch (operation) {
      case "patchTarget":
        return this.#patchTarget(target, body);
      case "createEnvironment":
        return this.#createEnvironment(target, body);
      case "patchEnvironment":
        return this.#patchEnvironment(find(target.environments, id), body);
      case "patchTestCase":
        return this.#patchTestCase(target, find(target.testCases, id), body);
      case "patchElement":
        return this.#patchElement(find(find(target.testCases, id).elements, elementId), body);
      case "createDiscovery":
        return this.#createDiscovery(target, body);
      case "createBatchGeneration": {
        target.batchGenerations.push(body);
        return { batchGenerationId: this.newId("batch") };
      }
    }
  }

  #createTarget(body: JsonObject): Json {
    const wanted = isObject(body["testTarget"]) ? body["testTarget"] : {};
    const target = this.addTarget(text(wanted["app"]));
    target.environments.push({
      id: this.newId("env"),
      type: "DEFAULT",
      fields: { discoveryUrl: this.#url(wanted["discoveryUrl"]) },
    });
    const environments = target.environments.map(({ id, type }) => ({ id, type }));
    return {
      id: target.id,
      app: target.app,
      ...(this.knobs.environmentsInTargetAnswer ? { environments } : {}),
    };
  }

  addTarget(app: string): StoredTarget {
    const target: StoredTarget = {
      id: this.newId("target"),
      app,
      settings: {},
      environments: [],
      testCases: [],
      folders: new Map(),
      batchGenerations: [],
      notifications: [],
    };
    this.targets.push(target);
    return target;
  }

  #patchTarget(target: StoredTarget, { app, ...settings }: JsonObject): Json {
    if (typeof app === "string") target.app = app;
    target.settings = { ...target.settings, ...settings };
    return { id: target.id, app: target.app };
  }

  #createEnvironment(target: StoredTarget, body: JsonObject): Json {
    const environment: StoredEnvironment = {
      id: this.newId("env"),
      type: "ADDITIONAL",
      fields: {},
    };
    target.environments.push(environment);
    return this.#patchEnvironment(environment, body);
  }

  #patchEnvironment(environment: StoredEnvironment, body: JsonObject): Json {
    environment.fields = { ...environment.fields, ...body };
    if (typeof body["discoveryUrl"] === "string")
      environment.fields = { ...environment.fields, discoveryUrl: this.#url(body["discoveryUrl"]) };
    return { id: environment.id, type: environment.type };
  }

  #url(value: Json | undefined): string {
    const plain = text(value);
    return this.knobs.trailingSlash && !plain.endsWith("/") ? `${plain}/` : plain;
  }

  #createDiscovery(target: StoredTarget, body: JsonObject): Json {
    const prerequisite = target.testCases.find(
      ({ description, status }) => status !== "DELETED" && description === body["prerequisiteName"],
    );
    if (body["prerequisiteName"] !== undefined && prerequisite === undefined)
      throw new Undescribed(`there is no prerequisite ${JSON.stringify(body["prerequisiteName"])}`);
    const testCase = this.addTestCase(target, {
      description: text(body["name"]),
      prompt: text(body["prompt"]),
      status: "PROVISIONAL",
      type: optionalText(body["type"]) ?? null,
      entryPointUrlPath: optionalText(body["entryPointUrlPath"]) ?? null,
      folder: optionalText(body["folderName"]) ?? null,
      externalId: optionalText(body["externalId"]) ?? null,
      tags: texts(body["tagNames"]),
      prerequisiteId: prerequisite?.id ?? null,
    });
    this.#generate(target, testCase);
    return { discoveryId: this.newId("discovery"), testCaseId: testCase.id };
  }

  addTestCase(target: StoredTarget, fields: Partial<StoredTestCase>): StoredTestCase {
    const testCase: StoredTestCase = {
      id: this.newId("case"),
      description: "",
      status: "ENABLED",
      runStatus: "ON",
      interactionStatus: undefined,
      type: null,
      entryPointUrlPath: null,
      folder: null,
      externalId: null,
      tags: [],
      prerequisiteId: null,
      prompt: "",
      generating: false,
      generated: 0,
      elements: [],
      ...fields,
    };
    if (testCase.folder !== null) this.folderId(target, testCase.folder);
    target.testCases.push(testCase);
    return testCase;
  }

  folderId(target: StoredTarget, name: string): string {
    const id = target.folders.get(name) ?? this.newId("folder");
    target.folders.set(name, id);
    return id;
  }

  #generate(target: StoredTarget, testCase: StoredTestCase): void {
    testCase.generating = true;
    if (this.knobs.generation === "at once") this.#finish(target, testCase);
  }

  #finish(target: StoredTarget, testCase: StoredTestCase): void {
    const { made } = this.knobs;
    testCase.generating = false;
    testCase.generated++;
    testCase.status = made.status;
    testCase.runStatus = made.runStatus;
    testCase.elements = Array.from({ length: made.elements }, (_, at) =>
      this.newElement({ interaction: { action: "CLICK", calledWith: `made ${at}` } }),
    );
    target.notifications.push({ id: this.newId("notification"), testCaseId: testCase.id });
  }

  finishGenerations(): void {
    for (const target of this.targets)
      for (const testCase of target.testCases)
        if (testCase.generating) this.#finish(target, testCase);
  }

  newElement(fields: Partial<StoredElement>): StoredElement {
    return {
      id: this.newId("element"),
      interaction: null,
      assertion: null,
      selectors: [],
      ignoreFailure: undefined,
      line: undefined,
      madeOfLine: undefined,
      ...fields,
    };
  }

  #patchTestCase(target: StoredTarget, testCase: StoredTestCase, body: JsonObject): Json {
    const { description, status, runStatus, interactionStatus, externalId, entryPointUrlPath } =
      body;
    if (typeof description === "string") testCase.description = description;
    if (typeof status === "string") testCase.status = status;
    if (typeof runStatus === "string") testCase.runStatus = runStatus;
    if (typeof interactionStatus === "string") testCase.interactionStatus = interactionStatus;
    if (externalId !== undefined) testCase.externalId = optionalText(externalId) ?? null;
    if (entryPointUrlPath !== undefined)
      testCase.entryPointUrlPath = optionalText(entryPointUrlPath) ?? null;
    if (body["assignedTagNames"] !== undefined) testCase.tags = texts(body["assignedTagNames"]);
    if (body["folderName"] !== undefined)
      this.moveToFolder(target, testCase, optionalText(body["folderName"]));
    const { elements } = body;
    if (isArray(elements)) this.#putElements(testCase, elements.filter(isObject));
    const prompt = body["createBackendDiscoveryPrompt"];
    if (typeof prompt === "string") {
      testCase.prompt = prompt;
      this.#generate(target, testCase);
    }
    return this.#showPatched(target, testCase);
  }

  moveToFolder(target: StoredTarget, testCase: StoredTestCase, name: string | undefined): void {
    testCase.folder = name ?? null;
    if (name !== undefined) this.folderId(target, name);
  }

  /** An element keeps its identity by its id; everything else is replaced by what was sent. */
  #putElements(testCase: StoredTestCase, sent: readonly JsonObject[]): void {
    const indexes = sent.map((element) => element["index"]);
    if (new Set(indexes).size !== indexes.length)
      throw new Undescribed("two elements stand at one position");
    testCase.elements = sent
      .toSorted((a, b) => Number(a["index"]) - Number(b["index"]))
      .map((element) => {
        const kept =
          typeof element["id"] === "string" ? find(testCase.elements, element["id"]) : undefined;
        const selectors = isArray(element["selectors"])
          ? element["selectors"].filter(isObject)
          : [];
        const places = selectors.map((selector) => selector["index"]);
        if (new Set(places).size !== places.length)
          throw new Undescribed("two selectors stand at one position");
        return {
          id: kept?.id ?? this.newId("element"),
          interaction: isObject(element["interaction"]) ? bare(element["interaction"]) : null,
          assertion: isObject(element["assertion"]) ? bare(element["assertion"]) : null,
          selectors: selectors.map(bare),
          ignoreFailure:
            typeof element["ignoreFailure"] === "boolean" ? element["ignoreFailure"] : undefined,
          line: kept?.line,
          madeOfLine: kept?.madeOfLine,
        };
      });
  }

  #patchElement(element: StoredElement, body: JsonObject): Json {
    const line = text(body["locatorLine"]);
    element.selectors = [
      { selectorType: "TEXT", selector: `made of ${line.length} characters`, options: {} },
    ];
    element.line = line;
    element.madeOfLine = JSON.stringify(element.selectors);
    return { id: element.id };
  }

  // Answers

  #showTarget({ id, app, environments }: StoredTarget): LiveTarget {
    return {
      id,
      app,
      environments: environments.map(({ id: own, type, fields }): LiveEnvironment => ({
        id: own,
        type,
        discoveryUrl: optionalText(fields["discoveryUrl"]),
      })),
    };
  }

  #showTestCases(target: StoredTarget): readonly LiveTestCase[] {
    return target.testCases.map((testCase) => this.#showTestCase(target, testCase));
  }

  #showTestCase({ folders }: StoredTarget, testCase: StoredTestCase): LiveTestCase {
    const none = this.knobs.omitsNulls ? undefined : null;
    return {
      id: testCase.id,
      description: testCase.description,
      status: testCase.status,
      runStatus: testCase.runStatus,
      type: testCase.type ?? none,
      entryPointUrlPath: testCase.entryPointUrlPath ?? none,
      folderId: testCase.folder === null ? none : folders.get(testCase.folder),
      externalId: testCase.externalId ?? none,
      tags: [...testCase.tags],
      prerequisiteId: testCase.prerequisiteId ?? none,
      elements: testCase.elements.map((element, at) => this.#showElement(element, at)),
      discovery: this.#showDiscovery(testCase),
    };
  }

  #showDiscovery({ prompt, generating, generated }: StoredTestCase): LiveTestCase["discovery"] {
    const { discovery } = this.knobs;
    if (discovery === "null") return undefined;
    const isSlow = discovery === "slow to begin";
    return {
      ...(isSlow ? { updatedAt: `2026-01-01T00:00:0${generated}.000Z` } : {}),
      status: generating && !isSlow ? "CREATED" : "FINISHED",
      freePrompt: this.#showPrompt(prompt),
      abortCause: undefined,
      message: undefined,
    };
  }

  #showPrompt(prompt: string): string | undefined {
    if (this.knobs.discovery === "with altered prompt") return `${prompt}, please`;
    return this.knobs.discovery === "with prompt" ? prompt : undefined;
  }

  #showElement(element: StoredElement, at: number): LiveElement {
    return readElement(this.#rawElement(element, at));
  }

  #rawElement(
    { id, interaction, assertion, selectors, ignoreFailure }: StoredElement,
    at: number,
  ): JsonObject {
    const part = (value: JsonObject | null, kind: string): Json =>
      value === null
        ? null
        : { id: `${id}-${kind}`, testCaseElementId: id, calledWith: null, ...value };
    return {
      id,
      index: at + this.knobs.firstIndex,
      interaction: part(interaction, "interaction"),
      assertion: part(assertion, "assertion"),
      scrollState: { y: at },
      selectors: selectors.map((selector, nth) => ({
        id: `${id}-selector-${nth}`,
        index: nth + this.knobs.firstIndex,
        scrollStateId: "scroll",
        testCaseElementId: id,
        options: null,
        ...selector,
      })),
      ...(ignoreFailure === undefined ? {} : { ignoreFailure }),
    };
  }

  #showPatched(target: StoredTarget, testCase: StoredTestCase): Json {
    const folderId =
      testCase.folder === null ? null : (target.folders.get(testCase.folder) ?? null);
    return {
      id: testCase.id,
      description: testCase.description,
      status: testCase.status,
      elements: testCase.elements.map(({ id }, at) => ({
        index: at + this.knobs.firstIndex,
        ...(this.knobs.elementIdsInPatchAnswer ? { id } : {}),
      })),
      ...(this.knobs.folderInPatchAnswer ? { folderId } : {}),
    };
  }
}

function failure({ acted, fatal = false }: Fault): ServiceError {
  const call = { method: "POST", path: "", attempts: 1, acted, words: undefined } as const;
  return new ServiceError(
    fatal
      ? { kind: "key-refused", status: 401, ...call }
      : { kind: "status", status: 500, retryAfter: undefined, ...call },
  );
}

function find<T extends { readonly id: string }>(items: readonly T[], id: string): T {
  const found = items.find((item) => item.id === id);
  if (found === undefined) throw new Undescribed(`there is no ${id} there`);
  return found;
}

/** Removes ids and positions, because the service assigns them. */
function bare(part: JsonObject): JsonObject {
  const own = ["id", "index", "testCaseElementId"];
  return Object.fromEntries(Object.entries(part).filter(([key]) => !own.includes(key)));
}

/** Required keys have been checked before. */
function text(value: Json | undefined): string {
  return optionalText(value) ?? "";
}

function optionalText(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function texts(value: Json | undefined): readonly string[] {
  return isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
