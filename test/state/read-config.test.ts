import { describe, expect, it, test } from "vitest";
import type { StateSettings } from "../../src/model/settings.ts";
import { Secret } from "../../src/model/value.ts";
import { readConfig } from "../../src/state/config.ts";
import { StateFailure } from "../../src/state/problem.ts";
import { problemOf } from "./support/result.ts";

type Options = StateSettings["options"];

describe("the configuration of a backend gets its defaults", () => {
  it("for local", () => {
    expect(readConfig({ backend: "local", options: {} })).toEqual({
      backend: "local",
      path: ".tasc/state",
    });
  });

  it("for postgres", () => {
    const url = new Secret("postgresql://ci@db/tasc");
    const config = readConfig({ backend: "postgres", options: { url } });
    expect(config).toMatchObject({ backend: "postgres", schema: "tasc", table: "state" });
    expect(config.backend === "postgres" && config.connection).toMatchObject({
      database: "tasc",
      user: "ci",
    });
  });

  it("for http", () => {
    const options = { address: "https://state.example.com" };
    expect(readConfig({ backend: "http", options })).toEqual({
      backend: "http",
      address: "https://state.example.com/",
      locking: {
        lockAddress: "https://state.example.com/",
        lockMethod: "LOCK",
        unlockAddress: "https://state.example.com/",
        unlockMethod: "UNLOCK",
      },
      updateMethod: "POST",
      username: undefined,
      password: undefined,
    });
  });

  it("with the lock address as the unlock address", () => {
    const options = {
      address: "https://s.example.com/{target}",
      lockAddress: "https://l.example.com/{target}",
    };
    const config = readConfig({ backend: "http", options });
    expect(config.backend === "http" && config.locking?.unlockAddress).toBe(
      "https://l.example.com/{target}",
    );
  });

  it("without locks if they are turned off", () => {
    const options = { address: "https://state.example.com", lock: false };
    const config = readConfig({ backend: "http", options });
    expect(config.backend === "http" && config.locking).toBeUndefined();
  });
});

describe("the configuration of a backend is rejected", () => {
  const rows: readonly (readonly [string, StateSettings["backend"], Options, string])[] = [
    [
      "no url",
      "postgres",
      {},
      "state.url is missing; it must be postgres://user:password@host:port/database",
    ],
    [
      "a url of something else",
      "postgres",
      { url: "mysql://ci:hush@db" },
      "state.url does not fit",
    ],
    [
      "a table that needs quotes",
      "postgres",
      { url: "postgres://db", table: "a b" },
      "state.table does not fit",
    ],
    ["no address", "http", {}, "state.address is missing"],
    [
      "an address without a scheme",
      "http",
      { address: "state.example.com" },
      "state.address does not fit",
    ],
    // All targets of a stage would share one document.
    [
      "an address with a stage alone",
      "http",
      { address: "https://s/{stage}" },
      "state.address does not fit",
    ],
    [
      "a method that is none",
      "http",
      { address: "https://s", lockMethod: "lock it" },
      "state.lockMethod does not fit",
    ],
    [
      "a lock that is neither on nor off",
      "http",
      { address: "https://s", lock: "maybe" },
      "state.lock does not fit",
    ],
  ];
  test.each(rows)("for %s", async (_, backend, options, reason) => {
    const problem = await problemOf(() => readConfig({ backend, options }));
    expect(problem.kind === "misconfigured" && problem.reason.startsWith(reason)).toBe(true);
    expect(JSON.stringify(problem)).not.toContain("hush");
  });
});

describe("parameters that libpq takes and that change nothing here", () => {
  const read = (query: string) =>
    readConfig({
      backend: "postgres",
      options: { url: new Secret(`postgres://ci@db/tasc?${query}`) },
    });

  it.each([
    "gssencmode=disable",
    "sslcompression=0&keepalives=1&keepalives_idle=30&keepalives_interval=10&keepalives_count=3",
    "connect_timeout=10&application_name=ci",
    "options=-csearch_path%3Dtasc",
    "options=-c%20search_path%3Dtasc,public",
    "options=--search_path%3Dtasc",
  ])("%s are accepted", (query) => {
    expect(read(query)).toMatchObject({ connection: { database: "tasc", tls: "verify-full" } });
  });

  it.each([
    ["gssencmode=require", "gssencmode must be one of disable, prefer"],
    ["options=-csynchronous_commit%3Doff", "options may only set search_path"],
    ["options=-csearch_path%3Da%20-crole%3Db", "options may only set search_path"],
    ["service=x", "the parameter service is not supported"],
  ])("%s is refused", (query, reason) => {
    expect(() => read(query)).toThrow("section of tasc.yaml is wrong");
    try {
      read(query);
    } catch (error) {
      expect(problemIn(error)).toContain(reason);
    }
  });
});

function problemIn(error: unknown): string {
  return error instanceof StateFailure ? JSON.stringify(error.problem) : "";
}
