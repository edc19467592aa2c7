import { validateHeaderName, validateHeaderValue } from "node:http";
import type { Json } from "../../model/json.ts";
import { type Read, type Reader, object } from "../read/reader.ts";
import { badValue } from "../read/refusal.ts";
import { flag, freeForm, integerFrom, nonEmptyText, oneOf, text } from "../read/values.ts";

/** What goes wrong with a request. "before" and "after" say whether the request is carried out. */
export type Fault =
  | { readonly type: "latency"; readonly ms: number }
  | {
      readonly type: "status";
      readonly status: number;
      readonly before: boolean;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Json | undefined;
    }
  | { readonly type: "reset" | "hang"; readonly when: "before" | "after" }
  | { readonly type: "truncate" };

const when = oneOf("before", "after");

const headers: Reader<Readonly<Record<string, string>>> = (value, at) =>
  Object.fromEntries(
    Object.entries(freeForm(value, at)).map(([name, content]) => [
      name,
      header(name, content, `${at}.${name}`),
    ]),
  );

function header(name: string, content: Json, at: string): string {
  const value = text(content, at);
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return value;
  } catch {
    throw badValue(at, "must be a header");
  }
}

const anything: Reader<Json> = (value) => value;

const faults: { readonly [type in Fault["type"]]: Reader<Fault> } = {
  latency: typed("latency", (fields) => ({
    type: "latency",
    ms: fields.required("ms", integerFrom(0, 600_000)),
  })),
  status: typed("status", (fields) => ({
    type: "status",
    status: fields.required("status", integerFrom(200, 599)),
    before: fields.optional("before", flag) ?? true,
    headers: fields.optional("headers", headers) ?? {},
    body: fields.optional("body", anything),
  })),
  reset: typed("reset", (fields) => ({
    type: "reset",
    when: fields.optional("when", when) ?? "before",
  })),
  hang: typed("hang", (fields) => ({ type: "hang", when: fields.optional("when", when) ?? "before" })),
  truncate: typed("truncate", () => ({ type: "truncate" })),
};

function typed(type: Fault["type"], build: Parameters<typeof object<Fault>>[0]): Reader<Fault> {
  return object((fields) => {
    fields.required("type", oneOf(type));
    return build(fields);
  });
}

const faultType = oneOf("latency", "status", "reset", "hang", "truncate");

const fault: Reader<Fault> = (value, at) => {
  const { type } = freeForm(value, at);
  if (type === undefined) throw badValue(`${at}.type`, "is required");
  return faults[faultType(type, `${at}.type`)](value, at);
};

const pattern: Reader<string> = (value, at) => {
  const source = nonEmptyText(value, at);
  try {
    return new RegExp(source).source;
  } catch {
    throw badValue(at, "must be a regular expression");
  }
};

/**
 * A fault and the requests it befalls: those of `method` whose path after /apiKey/v3 matches the expression `path`;
 * of these the `nth` and all later ones, at most `times` of them. Given `nth` alone it is that request only.
 */
export const faultRule = object((fields) => ({
  method: fields.optional("method", nonEmptyText),
  path: fields.optional("path", pattern),
  nth: fields.optional("nth", integerFrom(1)),
  times: fields.optional("times", integerFrom(1)),
  fault: fields.required("fault", fault),
}));

export type FaultRule = Read<typeof faultRule>;
