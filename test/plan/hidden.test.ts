import { describe, expect, test } from "vitest";
import { createdRecords } from "../../src/apply/run.ts";
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
      ...createdRecords(
        fingerprints,
        resource("environment", "preview", { discoveryUrl: url }),
        "E1",
      ),
    }) as const;
  const changes = (url: string, declared: object = environments) =>
    publicPlan({
      declared: { environments: { ...declared } },
      live: { target: hidden },
      state: [bound(url)],
    }).changes;

  test("is not updated again after its URL was sent", () => {
    expect(changes("https://preview.example.com")).toEqual([]);
  });

  test("is updated if the URL in the manifest changes", () => {
    expect(changes("https://old.example.com")).toMatchObject([
      {
        action: "update",
        fields: [{ path: ["discoveryUrl"], after: "https://preview.example.com" }],
      },
    ]);
  });
});

describe("the live value of a field", () => {
  const live = {
    testCases: [
      liveCase("C1", {
        description: "old secret",
        elements: [
          liveElement("1", 0, { interaction: { action: "FILL", calledWith: "old secret" } }),
        ],
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

  test("is hidden if a secret was written last, even if the manifest no longer has one there", () => {
    expect(fields(["description", "elements"])).toEqual([
      { path: ["description"], after: "plain" },
      { path: ["elements"], sensitive: true },
    ]);
  });

  test("is shown if no secret was written", () => {
    expect(fields([])).toMatchObject([{ before: "old secret" }, { before: "old secret" }]);
  });

  test("is recorded as written with a secret if the creation contained one", () => {
    const declared = { description: "Log in", "discovery.prompt": new Secret("find s3cret") };
    expect(
      createdRecords(fingerprints, resource("testCase", "login", declared), "C1").secrets,
    ).toEqual(["discovery.prompt"]);
  });
});
