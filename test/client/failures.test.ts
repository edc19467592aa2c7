import { describe, expect, test } from "vitest";
import { connectionFault } from "../../src/service/exchange.ts";
import {
  type Failure,
  type Fault,
  describeFailure,
  isOutOfReach,
} from "../../src/service/failure.ts";
import { clientOf, failureOf } from "./support/client.ts";
import { httpServer, json } from "./support/server.ts";

function failure(fault: Fault, more: Partial<Omit<Failure, "kind">> = {}): Failure {
  return {
    ...fault,
    method: "GET",
    path: "/apiKey/v3/test-targets",
    attempts: 1,
    acted: "no",
    ...more,
  };
}

const FAULTS: readonly Fault[] = [
  { kind: "unsendable" },
  { kind: "unreachable", cause: "refused", host: "127.0.0.1:4010", code: "ECONNREFUSED" },
  {
    kind: "unreachable",
    cause: "certificate",
    host: "service.example.com",
    code: "CERT_HAS_EXPIRED",
  },
  { kind: "interrupted" },
  { kind: "timeout", limit: 30_000, during: "connecting" },
  { kind: "timeout", limit: 1500, during: "reading" },
  { kind: "broken", code: "ECONNRESET" },
  { kind: "key-refused", status: 401, words: "no such key." },
  { kind: "redirect", status: 302, host: "elsewhere.example" },
  { kind: "redirect", status: 304, host: undefined },
  { kind: "status", status: 400, words: "app is empty", retryAfter: undefined },
  { kind: "status", status: 404, words: undefined, retryAfter: undefined },
  { kind: "status", status: 429, words: undefined, retryAfter: 1000 },
  { kind: "status", status: 503, words: undefined, retryAfter: undefined },
  { kind: "unreadable", why: "not-json", offset: 17 },
  { kind: "misshapen", at: [3, "status"], expected: "a string", found: "a number" },
  { kind: "misshapen", at: ["data", 0, "id"], expected: "an id", found: "nothing" },
  { kind: "misshapen", at: [], expected: "a list", found: "an object" },
  { kind: "too-big", what: "depth", limit: 100 },
  { kind: "too-big", what: "answer", limit: 67108864 },
];

test("every failure says what happened and what to do next", () => {
  const texts = FAULTS.map((fault) => {
    const { code, summary, detail } = describeFailure(failure(fault));
    return `${code}: ${summary}\n${detail}`;
  });
  expect(`\n${texts.join("\n\n")}\n`).toMatchInlineSnapshot(`
    "
    key-unsendable: The API key cannot be sent
    GET /apiKey/v3/test-targets: the key is empty, or holds a line break, a blank at an end or a character that no HTTP header can carry. Check how the key gets into its environment variable.

    unreachable: The service cannot be reached
    GET /apiKey/v3/test-targets: no connection to 127.0.0.1:4010: nothing accepts connections there (ECONNREFUSED). Check host and port in \`service.baseUrl\`, and that the service runs.

    unreachable: The service cannot be reached
    GET /apiKey/v3/test-targets: no connection to service.example.com: its certificate is not accepted (CERT_HAS_EXPIRED). For a certificate of your own authority, set NODE_EXTRA_CA_CERTS to its file.

    interrupted: Interrupted
    GET /apiKey/v3/test-targets: cancelled before the service answered. Run the command again.

    timeout: No connection to the service in time
    GET /apiKey/v3/test-targets: no connection within 30 s. If the service is known to be slow, raise \`service.requestTimeout\` (\`--request-timeout\`).

    timeout: No answer from the service in time
    GET /apiKey/v3/test-targets: the answer was not complete within 1.5 s. If the service is known to be slow, raise \`service.requestTimeout\` (\`--request-timeout\`).

    connection-broken: The connection to the service broke
    GET /apiKey/v3/test-targets: the connection ended before the answer did (ECONNRESET). Run the command again; if it happens again, check what is between here and the service.

    key-refused: The service refused the API key (401)
    GET /apiKey/v3/test-targets: the service says: no such key. Check that \`service.apiKey\` is the key of this service and may do this.

    redirect: The service redirects (302)
    GET /apiKey/v3/test-targets: the answer points to elsewhere.example; redirects are never followed, because the API key would be sent along. If that is where the service is, make it the base address (\`service.baseUrl\`).

    redirect: The service redirects (304)
    GET /apiKey/v3/test-targets: the answer names no other place; redirects are never followed, because the API key would be sent along. If that is where the service is, make it the base address (\`service.baseUrl\`).

    http-400: The service answered 400
    GET /apiKey/v3/test-targets: the service says: app is empty. Correct what the service refuses, and run the command again.

    http-404: The service answered 404
    GET /apiKey/v3/test-targets. What the call is about is gone, or \`service.baseUrl\` is not the service's address.

    http-429: The service answered 429
    GET /apiKey/v3/test-targets. Lower \`service.concurrency\`, or run the command again later.

    http-503: The service answered 503
    GET /apiKey/v3/test-targets. Run the command again later.

    answer-unreadable: The service's answer cannot be read
    GET /apiKey/v3/test-targets: the answer is not JSON (at byte 17). Check that \`service.baseUrl\` is the service's own address, and that its version is the one tasc is for.

    answer-misshapen: The service's answer does not match its API description
    GET /apiKey/v3/test-targets: [3].status: expected a string, found a number. Check that \`service.baseUrl\` is the service's own address, and that its version is the one tasc is for.

    answer-misshapen: The service's answer does not match its API description
    GET /apiKey/v3/test-targets: data[0].id: expected an id, found nothing. Check that \`service.baseUrl\` is the service's own address, and that its version is the one tasc is for.

    answer-misshapen: The service's answer does not match its API description
    GET /apiKey/v3/test-targets: expected a list, found an object. Check that \`service.baseUrl\` is the service's own address, and that its version is the one tasc is for.

    answer-too-big: The service's answer is too big
    GET /apiKey/v3/test-targets: values are nested more than 100 deep. Check that \`service.baseUrl\` is the service's own address, and that its version is the one tasc is for.

    answer-too-big: The service's answer is too big
    GET /apiKey/v3/test-targets: the answer is longer than 67108864 bytes. Check that \`service.baseUrl\` is the service's own address, and that its version is the one tasc is for.
    "
  `);
});

describe("a failure says", () => {
  test("how often the call was sent", () => {
    const text = describeFailure(failure({ kind: "broken", code: "ECONNRESET" }, { attempts: 6 }));
    expect(text.detail).toContain("GET /apiKey/v3/test-targets, sent 6 times: ");
  });

  test("that a creation may have happened", () => {
    const fault: Fault = { kind: "broken", code: "ECONNRESET" };
    const open = "The service may still have carried it out.";
    expect(describeFailure(failure(fault, { method: "POST", acted: "maybe" })).detail).toContain(
      open,
    );
    expect(describeFailure(failure(fault, { method: "POST", acted: "no" })).detail).not.toContain(
      open,
    );
    expect(
      describeFailure(failure(fault, { method: "PATCH", acted: "maybe" })).detail,
    ).not.toContain(open);
  });
});

test("isOutOfReach is true only for failures to connect and for a key that is unusable or refused", () => {
  const out = FAULTS.filter(isOutOfReach).map((fault) =>
    fault.kind === "timeout" ? fault.during : fault.kind,
  );
  expect(out).toEqual(["unsendable", "unreachable", "unreachable", "connecting", "key-refused"]);
});

function coded(code: string): Error {
  return Object.assign(new Error("text that nobody reads"), { code });
}

describe("errors of connections", () => {
  test.each([
    ["ECONNREFUSED", "refused"],
    ["ENOTFOUND", "name"],
    ["EAI_AGAIN", "name"],
    ["CERT_HAS_EXPIRED", "certificate"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "certificate"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "certificate"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "certificate"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "encryption"],
    ["EPROTO", "encryption"],
    ["EHOSTUNREACH", "network"],
    ["ECONNRESET", "network"],
    ["SOMETHING_NEW", "network"],
  ])("%s before anything was sent means that the service is unreachable", (code, cause) => {
    expect(connectionFault(coded(code), false, "h", 7)).toEqual({
      kind: "unreachable",
      cause,
      host: "h",
      code,
    });
  });

  test.each(["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"])("%s is a timeout", (code) => {
    expect(connectionFault(coded(code), false, "h", 7)).toEqual({
      kind: "timeout",
      limit: 7,
      during: "connecting",
    });
  });

  test.each(["ECONNREFUSED", "ECONNRESET", "UND_ERR_SOCKET"])(
    "%s later is a broken connection",
    (code) => {
      expect(connectionFault(coded(code), true, "h", 7)).toEqual({ kind: "broken", code });
    },
  );

  test("an AggregateError counts as its first error, and an error without code is named by its class", () => {
    const bundle = new AggregateError([coded("ECONNREFUSED"), coded("ENETUNREACH")]);
    expect(connectionFault(bundle, false, "h", 7)).toMatchObject({
      cause: "refused",
      code: "ECONNREFUSED",
    });
    expect(connectionFault(new TypeError("x"), false, "h", 7)).toMatchObject({
      cause: "network",
      code: "TypeError",
    });
    expect(connectionFault(new AggregateError([]), false, "h", 7)).toMatchObject({
      code: "AggregateError",
    });
  });

  test("https to a server that speaks http is not retried", async () => {
    const server = await httpServer((response) => json(response, []));
    const { client } = clientOf(server.url.replace("http:", "https:"));
    expect(await failureOf(client.listTargets())).toMatchObject({
      kind: "unreachable",
      cause: "encryption",
      attempts: 1,
      acted: "no",
    });
  });
});
