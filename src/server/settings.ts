import * as v from "./input.ts";
import { runStatus, settableStatus } from "./resources.ts";

/** The longest wait a timer of the runtime can hold. */
const LONGEST_WAIT = 2 ** 31 - 1;

/**
 * How the service behaves where the text says "not shown", or says two things. Every value is one a real service
 * could have, so a client has to work under any combination.
 */
const some = v.object({
  /** Of the POST operations. */
  createStatus: v.optional(v.oneOf(200, 201)),
  /** Of operations 4, 8 and 9; 204 answers no body. Operation 6 says 200, so it stays. */
  updateStatus: v.optional(v.oneOf(200, 204)),
  /** "Response body ... not shown" (operation 4). */
  patchTargetBody: v.optional(v.oneOf("resource", "empty")),
  /** Whether the list of test cases carries `discovery.freePrompt`, and `discovery` at all. */
  showPrompt: v.optional(v.flag),
  showDiscovery: v.optional(v.flag),
  /** Adds a field the text does not know to every object answered, free-form objects excepted. */
  extraFields: v.optional(v.flag),
  /** Answers values the text does not list where it leaves an enumeration open, and as notification types. */
  unknownEnums: v.optional(v.flag),
  errorBody: v.optional(v.oneOf("json", "text", "html", "empty")),
  /** A missing key is 401 always. */
  wrongKeyStatus: v.optional(v.oneOf(401, 403)),
  /** Of the cases that discoveries and batch generations make. */
  createdCaseStatus: v.optional(settableStatus),
  createdRunStatus: v.optional(runStatus),
  /** What a discovery's end sets its case to; null leaves the status alone. */
  finishedCaseStatus: v.optional(v.nullable(settableStatus)),
  /** Milliseconds from the request of a discovery or batch generation to its end. */
  discoveryTime: v.optional(v.integerFrom(0, LONGEST_WAIT)),
  /** Reports per page, and the query parameter that asks for the next page. */
  pageSize: v.optional(v.integerFrom(1)),
  pageParameter: v.optional(v.oneOf("key", "createdAt", "none")),
  /** An environment's answered name: "enum" as the response table has it, "given" as the request said. */
  environmentName: v.optional(v.oneOf("enum", "given")),
  tagOrder: v.optional(v.oneOf("given", "sorted")),
});

export type Settings = Required<v.Read<typeof some>>;

export const DEFAULT_SETTINGS: Settings = {
  createStatus: 201,
  updateStatus: 200,
  patchTargetBody: "resource",
  showPrompt: true,
  showDiscovery: true,
  extraFields: false,
  unknownEnums: false,
  errorBody: "json",
  wrongKeyStatus: 403,
  createdCaseStatus: "DRAFT",
  createdRunStatus: "OFF",
  finishedCaseStatus: null,
  discoveryTime: 2000,
  pageSize: 20,
  pageParameter: "key",
  environmentName: "enum",
  tagOrder: "given",
};

/** Settings as a request gives them: what is left out is as in `defaults`. */
export function settingsReader(defaults: Settings): v.Reader<Settings> {
  return (...given) => ({ ...defaults, ...some(...given) });
}
