import type { IncomingHttpHeaders } from "node:http";
import { Refusal } from "../read/refusal.ts";

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/**
 * The control interface has no key, so it must not listen to web pages. A page whose name was made to point here
 * (DNS rebinding) has that name in Host; a page from elsewhere has its own in Origin.
 */
export function refuseForeignPages({ host, origin }: IncomingHttpHeaders): void {
  if (!isLoopbackUrl(`http://${host ?? ""}`))
    throw new Refusal(403, "the Host header is not a loopback address");
  if (origin !== undefined && !isLoopbackUrl(origin))
    throw new Refusal(403, "the Origin header is not a loopback address");
}

function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}
