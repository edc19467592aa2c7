import { type Read, type Reader, flag, integerFrom, nullable, object, oneOf } from "./input.ts";
import { runStatus, settableStatus } from "./resources.ts";

/**
 * How the service behaves where the text says "not shown", or says two things. Every value is one a real service
 * could have, so a client has to work under any combination.
 */
export type Settings = {
  /** Of the POST operations. */
  readonly createStatus: 200 | 201;
  /** Of operations 4, 8 and 9; 204 answers no body. Operation 6 says 200, so it stays. */
  readonly updateStatus: 200 | 204;
  /** "Response body ... not shown" (operation 4). */
  readonly patchTargetBody: "resource" | "empty";
  /** Whether the list of test cases carries `discovery.freePrompt`, and `discovery` at all. */
  readonly showPrompt: boolean;
  readonly showDiscovery: boolean;
  /** Adds a field the text does not know to every object answered, free-form objects excepted. */
  readonly extraFields: boolean;
  /** Answers values the text does not list where it leaves an enumeration open, and as notification types. */
  readonly unknownEnums: boolean;
  readonly errorBody: "json" | "text" | "html" | "empty";
  /** A missing key is 401 always. */
  readonly wrongKeyStatus: 401 | 403;
  /** Of the cases that discoveries and batch generations make. */
  readonly createdCaseStatus: Read<typeof settableStatus>;
  readonly createdRunStatus: Read<typeof runStatus>;
  /** What a discovery's end sets its case to; null leaves the status alone. */
  readonly finishedCaseStatus: Read<typeof settableStatus> | null;
  /** Milliseconds from the request of a discovery or batch generation to its end. */
  readonly discoveryTime: number;
  /** Reports per page, and the query parameter that asks for the next page. */
  readonly pageSize: number;
  readonly pageParameter: "key" | "createdAt" | "none";
  /** An environment's answered name: "enum" as the response table has it, "given" as the request said. */
  readonly environmentName: "enum" | "given";
  readonly tagOrder: "given" | "sorted";
};

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

/** The longest wait a timer of the runtime can hold. */
const LONGEST_WAIT = 2 ** 31 - 1;

/** Settings as a request gives them: what is left out is as in `defaults`. */
export function settingsReader(defaults: Settings): Reader<Settings> {
  return object((fields) => {
    const setting = <K extends keyof Settings>(name: K, read: Reader<Settings[K]>): Settings[K] => {
      const given = fields.optional(name, read);
      // Not `??`: null is a value a setting may have.
      return given === undefined ? defaults[name] : given;
    };
    return {
      createStatus: setting("createStatus", oneOf(200, 201)),
      updateStatus: setting("updateStatus", oneOf(200, 204)),
      patchTargetBody: setting("patchTargetBody", oneOf("resource", "empty")),
      showPrompt: setting("showPrompt", flag),
      showDiscovery: setting("showDiscovery", flag),
      extraFields: setting("extraFields", flag),
      unknownEnums: setting("unknownEnums", flag),
      errorBody: setting("errorBody", oneOf("json", "text", "html", "empty")),
      wrongKeyStatus: setting("wrongKeyStatus", oneOf(401, 403)),
      createdCaseStatus: setting("createdCaseStatus", settableStatus),
      createdRunStatus: setting("createdRunStatus", runStatus),
      finishedCaseStatus: setting("finishedCaseStatus", nullable(settableStatus)),
      discoveryTime: setting("discoveryTime", integerFrom(0, LONGEST_WAIT)),
      pageSize: setting("pageSize", integerFrom(1)),
      pageParameter: setting("pageParameter", oneOf("key", "createdAt", "none")),
      environmentName: setting("environmentName", oneOf("enum", "given")),
      tagOrder: setting("tagOrder", oneOf("given", "sorted")),
    };
  });
}
