import * as v from "./input.ts";
import { runStatus, settableStatus } from "./resources.ts";

/** The longest wait a timer of the runtime can hold. */
const LONGEST_WAIT = 2 ** 31 - 1;

/**
 * How the service behaves where the text says "not shown", or says two things. Every value is one a real service
 * could have, so a client has to work under any combination.
 */
const settings = v.object({
  /** Of the POST operations. */
  createStatus: v.or(v.oneOf(200, 201), 201),
  /** Of operations 4, 8 and 9; 204 answers no body. Operation 6 says 200, so it stays. */
  updateStatus: v.or(v.oneOf(200, 204), 200),
  /** "Response body ... not shown" (operation 4). */
  patchTargetBody: v.or(v.oneOf("resource", "empty"), "resource"),
  /** Whether the list of test cases carries `discovery.freePrompt`, and `discovery` at all. */
  showPrompt: v.or(v.flag, true),
  showDiscovery: v.or(v.flag, true),
  /** Adds a field the text does not know to every object answered, free-form objects excepted. */
  extraFields: v.or(v.flag, false),
  /** Answers values the text does not list where it leaves an enumeration open, and as notification types. */
  unknownEnums: v.or(v.flag, false),
  errorBody: v.or(v.oneOf("json", "text", "html", "empty"), "json"),
  /** A missing key is 401 always. */
  wrongKeyStatus: v.or(v.oneOf(401, 403), 403),
  /** Of the cases that discoveries and batch generations make. */
  createdCaseStatus: v.or(settableStatus, "DRAFT"),
  createdRunStatus: v.or(runStatus, "OFF"),
  /** What a discovery's end sets its case to; null leaves the status alone. */
  finishedCaseStatus: v.or(v.nullable(settableStatus), null),
  /** Milliseconds from the request of a discovery or batch generation to its end. */
  discoveryTime: v.or(v.integerFrom(0, LONGEST_WAIT), 2000),
  /** Reports per page, and the query parameter that asks for the next page. */
  pageSize: v.or(v.integerFrom(1), 20),
  pageParameter: v.or(v.oneOf("key", "createdAt", "none"), "key"),
  /** An environment's answered name: "enum" as the response table has it, "given" as the request said. */
  environmentName: v.or(v.oneOf("enum", "given"), "enum"),
  tagOrder: v.or(v.oneOf("given", "sorted"), "given"),
});

export type Settings = v.Read<typeof settings>;

/** Settings as a request gives them: what is left out is as in `defaults`. */
export function settingsReader(defaults: Partial<Settings>): v.Reader<Settings> {
  return (given, at, runtime) => settings({ ...defaults, ...v.freeForm(given, at, runtime) }, at, runtime);
}
