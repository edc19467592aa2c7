// Runs `tasc serve` as a process: its API key and its data folder.
import { chownSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Running, type Scene, at, json, scene } from "../look/scene.ts";

async function served(
  stage: Scene,
  args: readonly string[],
): Promise<Running & { readonly url: string }> {
  const running = stage.start(["serve", "--port", "0", ...args]);
  await running.saw(/Ctrl-C/);
  return { ...running, url: /http:\S+/.exec(running.said())?.[0] ?? "" };
}

async function stopped({ child, done }: Running): Promise<void> {
  child.kill("SIGTERM");
  expect((await done).code).toBe(0);
}

async function statusWith(url: string, key: string): Promise<number> {
  return (await fetch(`${url}/apiKey/v3/test-targets`, { headers: { "x-api-key": key } })).status;
}

test("each data folder has its own random key, which is printed and stored for its owner only", async () => {
  await scene(async (stage) => {
    const keys: string[] = [];
    for (const data of ["one", "one", "two"]) {
      const running = await served(stage, ["--data", data]);
      const key = /API key: (\S+)/.exec(running.said())?.[1] ?? "";
      expect(await statusWith(running.url, key)).toBe(200);
      expect(await statusWith(running.url, "local-key")).toBe(403);
      expect(stage.read(`${data}/api-key`)).toBe(`${key}\n`);
      expect(stage.mode(`${data}/api-key`)).toBe(0o600);
      keys.push(key);
      await stopped(running);
    }
    expect(keys[0]).toMatch(/^[\w-]{32}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });
});

test("a given key is neither printed nor stored", async () => {
  await scene(async (stage) => {
    stage.write("key.env", "TASC_SERVE_API_KEY=from-a-variable\n");
    for (const [args, key] of [
      [["--api-key", "from-an-option"], "from-an-option"],
      [["--dotenv", "key.env"], "from-a-variable"],
    ] as const) {
      const running = await served(stage, ["--data", "data", ...args]);
      expect(await statusWith(running.url, key)).toBe(200);
      expect(running.said()).toContain("API key: as given");
      expect(running.said()).not.toContain(key);
      expect(() => stage.read("data/api-key")).toThrow();
      await stopped(running);
    }
  });
});

const NOT_ROOT = process.getuid?.() !== 0;
const AS_ROOT = { meta: { needs: "root" } } as const;

test.skipIf(NOT_ROOT)(
  "rejects a data folder, key or data file of another user",
  AS_ROOT,
  async ({ expect: expectThat }) => {
    await scene(async (stage) => {
      for (const foreign of ["", "/api-key", "/service.db", "/service.db-wal"]) {
        const data = `data${foreign.replace("/", "-")}`;
        for (const file of ["api-key", "service.db", "service.db-wal"])
          stage.write(`${data}/${file}`, "");
        chownSync(join(stage.dir, data + foreign), 1001, 1001);
        const ran = await stage.run(["serve", "--port", "0", "--data", data, "--format", "json"]);
        expectThat(at(json(ran), "error")).toEqual({
          code: "data-unusable",
          message: `${join(stage.dir, data)}${foreign} belongs to another user`,
        });
      }
    });
  },
);

test("unusable data is reported with its folder, the cause and a hint to --data", async () => {
  await scene(async (stage) => {
    stage.write("file", "");
    stage.write("damaged/service.db", "no database ".repeat(1000));
    stage.write("key/api-key/x", "");
    for (const [data, why] of [
      ["file", /ENOTDIR/],
      ["damaged", /file is not a database/],
      ["key", /EISDIR/],
    ] as const) {
      const ran = await stage.run(["serve", "--port", "0", "--data", data, "--format", "json"]);
      expect(ran.code).toBe(1);
      expect(at(json(ran), "error")).toEqual({
        code: "data-unusable",
        message: `The local service cannot use its data in ${join(stage.dir, data)}`,
      });
      expect(ran.stderr).toMatch(why);
      expect(ran.stderr).toContain("--data");
    }
  });
});
