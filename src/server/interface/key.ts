import { createHash, timingSafeEqual } from "node:crypto";
import { Refusal } from "../read/refusal.ts";
import type { Settings } from "../settings.ts";

/** "Every operation requires an API key sent in the request header `X-API-Key`" (Authentication). */
export function checkKey(sent: string | string[] | undefined, apiKey: string, settings: Settings): void {
  if (sent === undefined) throw new Refusal(401, "the header X-API-Key is missing");
  if (typeof sent !== "string" || !same(sent, apiKey))
    throw new Refusal(settings.wrongKeyStatus, "the API key in X-API-Key is wrong");
}

/** Compared by digest: both sides of a timing-safe comparison must be of one length. */
function same(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
