import { describe, expect, test } from "vitest";
import { checkBaseUrl } from "../../src/service/request.ts";

describe("a base address", () => {
  test.each([
    ["https://service.example.com", "https://service.example.com", "", "service.example.com"],
    ["https://service.example.com/", "https://service.example.com", "", "service.example.com"],
    [
      "https://service.example.com:8443/a/b//",
      "https://service.example.com:8443",
      "/a/b",
      "service.example.com:8443",
    ],
    ["HTTPS://Service.Example.com/A", "https://service.example.com", "/A", "service.example.com"],
    ["http://localhost:4010", "http://localhost:4010", "", "localhost:4010"],
    ["http://127.0.0.1", "http://127.0.0.1", "", "127.0.0.1"],
    ["http://127.8.9.1:80", "http://127.8.9.1", "", "127.8.9.1"],
    ["http://127.1:4010", "http://127.0.0.1:4010", "", "127.0.0.1:4010"],
    ["http://[::1]:4010", "http://[::1]:4010", "", "[::1]:4010"],
    ["http://[0:0::1]", "http://[::1]", "", "[::1]"],
    ["https://example.com/my/apiKeys", "https://example.com", "/my/apiKeys", "example.com"],
  ])("%s is accepted", (text, origin, path, host) => {
    expect(checkBaseUrl(text)).toEqual({ ok: true, value: { origin, host, path } });
  });

  test.each([
    ["", "base-url"],
    ["service.example.com", "base-url"],
    ["/service", "base-url"],
    ["https://", "base-url"],
    ["ftp://service.example.com", "base-url"],
    ["file:///etc/passwd", "base-url"],
    ["localhost:4010", "base-url"],
    ["https://service.example.com/?a=1", "base-url"],
    ["https://service.example.com/?", "base-url"],
    ["https://service.example.com/#a", "base-url"],
    ["https://service.example.com/apiKey", "base-url"],
    ["https://service.example.com/x/apikey/v3/", "base-url"],
    ["https://user:hunter2@service.example.com", "base-url-credentials"],
    ["https://hunter2@service.example.com", "base-url-credentials"],
    ["http://service.example.com", "base-url-insecure"],
    ["http://128.0.0.1", "base-url-insecure"],
    ["http://127.0.0.1.example.com", "base-url-insecure"],
    ["http://localhost.example.com", "base-url-insecure"],
    ["http://[::2]", "base-url-insecure"],
    ["http://0.0.0.0", "base-url-insecure"],
  ])("%j is rejected", (text, code) => {
    const result = checkBaseUrl(text);
    expect(result).toMatchObject({ ok: false, failure: { code } });
    expect(JSON.stringify(result)).not.toContain("hunter2");
  });

  test("plain http to another machine can be allowed, but no other scheme", () => {
    expect(checkBaseUrl("http://service.example.com", { insecure: true }).ok).toBe(true);
    expect(checkBaseUrl("ftp://service.example.com", { insecure: true }).ok).toBe(false);
  });
});
