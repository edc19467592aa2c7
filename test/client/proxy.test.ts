import { once } from "node:events";
import { createServer } from "node:http";
import net, { type AddressInfo, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { describeFailure } from "../../src/service/failure.ts";
import { checkBaseUrl, type BaseUrl } from "../../src/service/request.ts";
import { scene } from "../contract/support/cli.ts";
import { clientOf, failureOf, settled } from "./support/client.ts";
import { closedPort, httpServer, json } from "./support/server.ts";

const OK = { id: "t1", app: "Shop" };

/** A proxy that connects every name to one address, and records what it was asked. */
async function proxyTo(
  url: string,
  status = 200,
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer().on("connect", (request, socket: Socket) => {
    sockets.add(socket);
    asked.push(`${request.url} ${request.headers["proxy-authorization"] ?? "nobody"}`);
    socket.on("error", () => undefined);
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    const onward = net.connect(Number(new URL(url).port), "127.0.0.1");
    return socket
      .pipe(onward)
      .on("error", () => undefined)
      .pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const isBound = (value: typeof address): value is AddressInfo =>
    typeof value === "object" && value !== null;
  if (!isBound(address)) throw new Error("the proxy has no port");
  return { url: `http://127.0.0.1:${address.port}`, asked };
}

function elsewhere(): BaseUrl {
  const checked = checkBaseUrl("http://service.test", { insecure: true });
  if (!checked.ok) throw new Error(checked.failure.summary);
  return checked.value;
}

test("calls go through the proxy with its credentials, which the service does not receive", async () => {
  const server = await httpServer((response) => json(response, OK));
  const proxy = await proxyTo(server.url);
  const HTTP_PROXY = proxy.url.replace("//", "//ann:s%20cret@");
  const { client } = clientOf(server.url, { baseUrl: elsewhere(), env: { HTTP_PROXY } });
  expect(await client.getTarget("t1")).toMatchObject(OK);
  expect(proxy.asked).toEqual([
    `service.test:80 Basic ${Buffer.from("ann:s cret").toString("base64")}`,
  ]);
  expect(server.received[0]?.headers).not.toHaveProperty("proxy-authorization");
  expect(server.received[0]?.headers["host"]).toBe("service.test");
});

test.each(["http://ann:s%cret@proxy.test:3128", "ann:s%cret@proxy.test", "http://:s%cret"])(
  "an unusable proxy address is rejected without repeating it: %s",
  async (address) => {
    await scene({}, async ({ project }) => {
      await project.write({ "targets/shop.yaml": "target: shop\napp: Shop\n" });
      const env = { TASC_BASE_URL: "https://service.test", HTTPS_PROXY: address };
      const { ran, value } = await project.json(["plan", "--log-level", "debug"], env);
      expect(ran.code).toBe(3);
      expect(value).toMatchObject({ error: { code: "bad-proxy" } });
      expect(ran.stdout + ran.stderr).not.toContain("cret");
    });
  },
);

test.each([
  ["this machine", "127.0.0.1", {}],
  ["a name that NO_PROXY lists", "localhost.test", { NO_PROXY: "localhost.test" }],
])("%s is reached without the proxy", async (_, host, more) => {
  const server = await httpServer((response) => json(response, OK));
  const proxy = await proxyTo(server.url);
  const checked = checkBaseUrl(server.url.replace("127.0.0.1", host), { insecure: true });
  if (!checked.ok) throw new Error(checked.failure.summary);
  const { client } = clientOf(server.url, {
    baseUrl: checked.value,
    env: { http_proxy: proxy.url, ...more },
    retries: 0,
  });
  const answered = await settled(client.getTarget("t1"));
  expect(proxy.asked).toEqual([]);
  // The other name does not exist: it was looked up here, and not by the proxy.
  expect(answered.ok ? "answered" : answered.failure.kind).toBe(
    host === "127.0.0.1" ? "answered" : "unreachable",
  );
});

test.each([
  ["refuses", async (url: string) => (await proxyTo(url, 407)).url],
  ["is not there", async () => closedPort()],
])(
  "a proxy that %s has forwarded nothing, and the error names the proxy variables",
  async (_, proxy) => {
    const server = await httpServer((response) => json(response, OK));
    const { client } = clientOf(server.url, {
      baseUrl: elsewhere(),
      env: { HTTPS_PROXY: "http://unused.test", HTTP_PROXY: await proxy(server.url) },
      retries: 0,
    });
    const call = { method: "POST", path: ["apiKey", "v3", "test-targets"], body: {} } as const;
    const failure = await failureOf(client.send(call));
    expect(failure).toMatchObject({ kind: "unreachable", cause: "proxy", acted: "no" });
    expect(describeFailure(failure).detail).toContain(
      "Check host and port in `service.baseUrl`, and HTTPS_PROXY",
    );
  },
);

test("a proxy that is not a URL is an error that does not repeat it", async () => {
  const server = await httpServer((response) => json(response, OK));
  const { client } = clientOf(server.url, {
    baseUrl: elsewhere(),
    env: { HTTP_PROXY: "http://:s3cret@:x" },
  });
  const error: unknown = await client.getTarget("t1").catch((thrown: unknown) => thrown);
  expect(String(error)).toContain("HTTP_PROXY or HTTPS_PROXY is not a URL");
  expect(String(error)).not.toContain("s3cret");
});
