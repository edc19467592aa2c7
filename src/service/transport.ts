import type { Dispatcher, EnvHttpProxyAgent } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";
import { invalid } from "../model/error.ts";
import { isLoopback } from "../model/shape.ts";
import type { Transport } from "./exchange.ts";

/**
 * Opens connections to the service. Only this module loads undici, so load it only when a call is
 * about to be made. Its inner modules save the 60 ms that the index takes for fetch, WebSocket and
 * caches.
 * @param origin the only host to connect to, except for a proxy
 * @param connections number of calls at once; by default, undici opens twice as many connections
 * @param env where HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read
 */
export async function openTransport(
  origin: string,
  connectTimeout: number,
  connections: number,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Transport> {
  // undici's own time limits for answers are off: they are coarse, and an exchange has its own.
  const options = { connections, connectTimeout, headersTimeout: 0, bodyTimeout: 0 };
  const proxied = await throughProxies(origin, env, options);
  const dispatcher = proxied ?? new Pool(origin, options);
  return { isProxied: proxied !== undefined, dispatcher };
}

/**
 * Connects through the proxies in the environment. Returns undefined if none is set, or the origin
 * is this machine.
 */
export async function throughProxies(
  origin: string,
  env: Readonly<Record<string, string | undefined>>,
  options: EnvHttpProxyAgent.Options,
): Promise<Dispatcher | undefined> {
  const proxies = proxiesFor(origin, env);
  if (proxies === undefined) return undefined;
  const [{ default: Agent }, { default: connect }] = await Promise.all([
    import("undici/lib/dispatcher/env-http-proxy-agent.js"),
    import("undici/lib/api/api-connect.js"),
  ]);
  // The package's index gives every dispatcher this method; the agent connects to a proxy with it.
  const clientFactory = (proxy: URL, more: object): Dispatcher =>
    Object.assign(new Pool(proxy, more), { connect });
  try {
    return new Agent({ ...options, ...proxies, clientFactory });
  } catch {
    // The error does not repeat the URL, which may contain a password.
    throw invalid(
      "bad-proxy",
      "HTTP_PROXY or HTTPS_PROXY is not a URL",
      "Expected a URL like http://proxy.example.com:3128; a % in its user or password is written as %25.",
    );
  }
}

function proxiesFor(origin: string, env: Readonly<Record<string, string | undefined>>) {
  const [httpProxy, httpsProxy, noProxy] = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].map(
    (name) => env[name.toLowerCase()] ?? env[name] ?? "",
  );
  if (!httpProxy && !httpsProxy) return undefined;
  if (isLoopback(new URL(origin).hostname)) return undefined;
  return {
    httpProxy: proxyUrl(httpProxy),
    httpsProxy: proxyUrl(httpsProxy),
    noProxy: noProxy ?? "",
  };
}

function proxyUrl(text = ""): string {
  return text === "" || text.includes("://") ? text : `http://${text}`;
}
