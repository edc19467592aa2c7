import type { Dispatcher } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";
import type { Receiver, Transport, WireRequest } from "./exchange.ts";

/**
 * The one module that knows undici; load it only when a call is about to be made, as that takes time at start.
 * `undici/lib/dispatcher/pool.js` is what `Pool` is in the package's index, without the 60 ms that fetch,
 * WebSocket and caches take to load beside it.
 *
 * `dispatch` rather than `request`: it tells when a connection stands and writing begins, and what fails before
 * that cannot have reached the service. No error code says so as surely. Proxy variables of the environment
 * are not looked at.
 * @param origin scheme, host and port: the pool connects to nothing else
 * @param connectTimeout milliseconds
 */
export function openTransport(origin: string, connectTimeout: number): Transport {
  // undici's own limits on answers are off: they are coarse, and an exchange has its own.
  const pool = new Pool(origin, { connectTimeout, headersTimeout: 0, bodyTimeout: 0 });
  return {
    send: (request, receiver) => void pool.dispatch(optionsOf(request), handlerFor(receiver)),
    close: () => pool.destroy(),
  };
}

function optionsOf({ method, path, headers, body }: WireRequest): Dispatcher.DispatchOptions {
  return { method, path, headers: { ...headers }, body: body ?? null };
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
