import type { Fault, Unreachable } from "../failure.ts";

/**
 * What a connection's error means.
 * @param began whether a connection stood and the request was being written
 * @param limit of the call's time, in milliseconds, in case connecting took longer
 */
export function connectionFault(error: Error, began: boolean, host: string, limit: number): Fault {
  const code = codeOf(error);
  if (began) return { kind: "broken", code };
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") {
    return { kind: "timeout", limit, during: "connecting" };
  }
  return { kind: "unreachable", cause: causeOf(code), host, code };
}

function causeOf(code: string): Unreachable["cause"] {
  if (code === "ECONNREFUSED") return "refused";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "name";
  if (CERTIFICATE.test(code)) return "certificate";
  return ENCRYPTION.test(code) ? "encryption" : "network";
}

/** Codes of certificate checks, OpenSSL's and Node's own: DEPTH_ZERO_SELF_SIGNED_CERT, ERR_TLS_CERT_ALTNAME_INVALID. */
const CERTIFICATE = /CERT|^UNABLE_TO_/;
/** Codes of a handshake that failed otherwise, as it does with a server that speaks plain http. */
const ENCRYPTION = /^ERR_TLS_|^ERR_SSL_|^EPROTO$/;

/** The system's code, of the first that has one: where a name has several addresses, errors come in a bundle. */
function codeOf(error: Error): string {
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const first = inner.find((part) => part instanceof Error);
  return first === undefined ? error.name : codeOf(first);
}
