import { describe, expect, test } from "vitest";
import { createdRecords } from "../../src/apply/context.ts";
import { Secret } from "../../src/model/value.ts";
import { fingerprints, liveCase, liveElement, liveTarget, publicPlan, resource } from "./build.ts";

describe("an environment whose URL the service does not show", () => {
  const environments = { preview: { discoveryUrl: "https://preview.example.com" } };
  const hidden = liveTarget([{ id: "E1", type: "ADDITIONAL", discoveryUrl: undefined }]);
  const bound = (url: string) =>
    ({
      type: "bound",
      address: "environment.shop.preview",
      id: "E1",
      ...createdRecords(fingerprints, resource("environment", "preview", { discoveryUrl: url }), "E1"),
    }) as const;
  const changes = (url: string, declared: object = environments) =>
    publicPlan({
      declared: { environments: { ...declared } },
      live: { target: hidden },
      state: [bound(url)],
    }).changes;

  test("is not planned again once its URL was sent", () => {
    expect(changes("https://preview.example.com")).toEqual([]);
  });

  test("is planned when the manifest's URL is another one", () => {
    expect(changes("https://old.example.com")).toMatchObject([
      { action: "update", fields: [{ path: ["discoveryUrl"], after: "https://preview.example.com" }] },
    ]);
  });
});

describe("a field that was last written with a secret", () => {
  const live = {
    testCases: [
      liveCase("C1", {
        description: "old secret",
        elements: [liveElement("1", 0, { interaction: { action: "FILL", calledWith: "old secret" } })],
      }),
    ],
  };
  const state = (secrets: readonly string[]) => [
    { type: "bound", address: "testCase.shop.login", id: "C1", fields: {}, secrets } as const,
  ];
  const elements = [{ interaction: { action: "FILL", calledWith: "plain" } }];
  const fields = (secrets: readonly string[]) =>
    publicPlan({
      declared: { testCases: { login: { description: "plain", elements } } },
      live,
      state: state(secrets),
    }).changes[0]?.fields;

  test("shows no live value, though the manifest has no secret there by now", () => {
    expect(fields(["description", "elements"])).toEqual([
      { path: ["description"], after: "plain" },
      { path: ["elements"], sensitive: true },
    ]);
  });

  test("shows it where no secret was written", () => {
    expect(fields([])).toMatchObject([{ before: "old secret" }, { before: "old secret" }]);
  });

  test("is recorded as such when it is created with one", () => {
    const declared = { description: "Log in", "discovery.prompt": new Secret("find s3cret") };
    expect(createdRecords(fingerprints, resource("testCase", "login", declared), "C1").secrets).toEqual([
      "discovery.prompt",
    ]);
  });
});
