import type { Refusal } from "../read/refusal.ts";
import type { Answered } from "./answered.ts";
import type { Settings } from "../settings.ts";

/** An answer before it is bytes. */
export type Reply = Head & (Body | List);

type Head = { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

type Body =
  | { readonly kind: "json"; readonly body: Answered }
  | { readonly kind: "text"; readonly type: string; readonly text: string }
  | { readonly kind: "empty" };

/** Written item by item: a list of many thousands is never one string. */
type List = { readonly kind: "list"; readonly items: Iterable<Answered> };

export function ok(body: Answered): Reply {
  return { kind: "json", status: 200, body };
}

/** An answer's body, in pieces to be written one after the other. */
export function pieces(reply: Reply): Iterable<string> {
  if (reply.kind === "list") return listed(reply.items);
  if (reply.kind === "empty") return [];
  return [reply.kind === "text" ? reply.text : JSON.stringify(reply.body)];
}

function* listed(items: Iterable<Answered>): Generator<string> {
  let before = "[";
  for (const item of items) {
    yield before + JSON.stringify(item);
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}

export function contentType(reply: Reply): string | undefined {
  if (reply.kind === "empty") return undefined;
  return reply.kind === "text" ? reply.type : "application/json; charset=utf-8";
}

/** "Error status codes, error body shape and error codes ...: not shown" (Errors): so any of four forms. */
export function errorReply(refusal: Refusal, form: Settings["errorBody"]): Reply {
  const { status, headers } = refusal;
  return { status, headers, ...errorForms[form](refusal) };
}

const errorForms: Readonly<Record<Settings["errorBody"], (refusal: Refusal) => Body>> = {
  json: (refusal) => ({ kind: "json", body: errorJson(refusal) }),
  text: ({ message }) => ({ kind: "text", type: "text/plain; charset=utf-8", text: message }),
  html: ({ status, message }) => ({
    kind: "text",
    type: "text/html; charset=utf-8",
    text: `<!doctype html><title>${status}</title><h1>${status}</h1><p>${escapeHtml(message)}</p>`,
  }),
  empty: () => ({ kind: "empty" }),
};

function errorJson({ status, message, field }: Refusal): Answered {
  return { statusCode: status, message, field };
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
