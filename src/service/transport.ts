import type { Dispatcher, EnvHttpProxyAgent } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";
import { invalid } from "../model/error.ts";
import type { Receiver, Transport, WireRequest } from "./exchange.ts";
import { isLoopback } from "./request.ts";

/**
 * The one module that knows undici; load it only when a call is about to be made, as that takes time at start.
 * `undici/lib/dispatcher/pool.js` is what `Pool` is in the package's index, without the 60 ms that fetch,
 * WebSocket and caches take to load beside it.
 *
 * `dispatch` rather than `request`: it tells when a connection stands and writing begins, and what fails before
 * that cannot have reached the service. No error code says so as surely.
 * @param origin scheme, host and port: nothing else is connected to, but a proxy
 * @param connectTimeout milliseconds
 * @param env where HTTPS_PROXY, HTTP_PROXY and NO_PROXY are looked for
 */
export async function openTransport(
  origin: string,
  connectTimeout: number,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Transport> {
  // undici's own limits on answers are off: they are coarse, and an exchange has its own.
  const options = { connectTimeout, headersTimeout: 0, bodyTimeout: 0 };
  const proxied = await throughProxies(origin, env, options);
  const dispatcher = proxied ?? new Pool(origin, options);
  return {
    isProxied: proxied !== undefined,
    send: (request, receiver) => void dispatcher.dispatch(optionsOf(origin, request), handlerFor(receiver)),
    close: () => dispatcher.destroy(),
  };
}

/** Connects through the proxies that the environment names; nothing where it names none for this origin. */
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
  // The package's index gives every dispatcher this method; the agent asks a proxy with it.
  const clientFactory = (proxy: URL, more: object): Dispatcher =>
    Object.assign(new Pool(proxy, more), { connect });
  return new Agent({ ...options, ...proxies, clientFactory });
}

/** The proxies of the environment, as undici takes them; none for this machine itself. */
function proxiesFor(
  origin: string,
  env: Readonly<Record<string, string | undefined>>,
): { readonly httpProxy: string; readonly httpsProxy: string; readonly noProxy: string } | undefined {
  const [httpProxy, httpsProxy, noProxy] = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].map(
    (name) => env[name.toLowerCase()] ?? env[name] ?? "",
  );
  if (!httpProxy && !httpsProxy) return undefined;
  if (isLoopback(new URL(origin).hostname)) return undefined;
  return { httpProxy: proxyUrl(httpProxy), httpsProxy: proxyUrl(httpsProxy), noProxy: noProxy ?? "" };
}

/** Not repeated in the error: it may carry a password. */
function proxyUrl(text = ""): string {
  const url = text === "" || text.includes("://") ? text : `http://${text}`;
  if (url === "" || URL.canParse(url)) return url;
  throw invalid(
    "bad-proxy",
    "HTTP_PROXY or HTTPS_PROXY is not a URL",
    "Expected a URL like http://proxy.example.com:3128.",
  );
}

function optionsOf(origin: string, { method, path, headers, body }: WireRequest): Dispatcher.DispatchOptions {
  return { origin, method, path, headers: { ...headers }, body: body ?? null };
}

/** Tells a receiver what undici tells; exported for its test. */
export function handlerFor(receiver: Receiver): Dispatcher.DispatchHandler {
  let began = false;
  return {
    onRequestStart(controller) {
      // undici may move a request to another connection. For a creation that could be a second one.
      if (began) return controller.abort(new Error("the request was about to be sent twice"));
      began = true;
      receiver.began(() => controller.abort(new Error("the answer is not wanted any more")));
    },
    onResponseStart(_controller, status, headers) {
      if (status >= 200) receiver.head(status, headers);
    },
    onResponseData(_controller, bytes) {
      receiver.piece(bytes);
    },
    onResponseEnd() {
      receiver.ended();
    },
    onResponseError(_controller, error) {
      receiver.broke(error);
    },
  };
}
