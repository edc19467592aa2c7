import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { EXECUTABLE, programs } from "../contract/support/program.ts";
import { run } from "../library/package.ts";
import { type Block, blocksOf, pages, setupOf } from "./page.ts";

// Every page is run in its own folder, block after block: `sh` is run, `text` must be in the output
// before it, `yaml file=…` is written. A block that another test runs names that test
// (`tested-by=`).

const home = mkdtempSync(join(tmpdir(), "tasc-pages-"));
const PATH = [await programs(), process.env["PATH"]].join(delimiter);
const servers: { kill: () => unknown }[] = [];
afterAll(() => {
  for (const server of servers) server.kill();
  rmSync(home, { recursive: true, force: true });
});

/** The reader of a page, with a folder, variables and the exports so far. */
class Reader {
  readonly folder: string;
  readonly env: Record<string, string> = { PATH };
  readonly exported: string[] = [];

  constructor(page: string) {
    this.folder = join(home, page.replaceAll(/[^\w]/g, "-"));
    mkdirSync(this.folder);
  }

  async sh(text: string, exit: number, where: string): Promise<string> {
    const { code, output } = await run(
      "bash",
      ["-e", "-c", [...this.exported, text].join("\n")],
      this.folder,
      this.env,
    );
    expect(code, `${where}\n${output}`).toBe(exit);
    this.exported.push(...text.split("\n").filter((line) => line.startsWith("export ")));
    return output;
  }

  /** Starts a local service on its own port and points `TASC_BASE_URL` at it. */
  async serve(command = "tasc serve --api-key local-key --discovery-time 10ms"): Promise<void> {
    const [, ...args] = command.trim().split(" ");
    const child = spawn(process.execPath, [EXECUTABLE, ...args, "--port", "0"], {
      cwd: this.folder,
      env: { PATH, HOME: home },
    });
    servers.push(child);
    this.env["TASC_BASE_URL"] = await new Promise((found, fail) => {
      let said = "";
      child.once("exit", () => fail(new Error(`the local service ended:\n${said}`)));
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => {
          said += text;
          const [address] = /http:\/\/127\.0\.0\.1:\d+(?=\s)/.exec(said) ?? [];
          if (address !== undefined) found(address);
        });
    });
  }

  file(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }
}

const KEYS = {
  TASC_API_KEY: "local-key",
  STAGING_KEY: "local-key",
  PRODUCTION_KEY: "local-key",
  TASC_FINGERPRINT_KEY: "a-fingerprint-key-for-reading",
};
const SHOP_SECRETS = {
  TRACKER_KEY: "tracker-key-for-reading",
  QA_PASSWORD: "password-for-reading",
  QA_OTP: "otp-key-for-reading",
  GATE_PASSWORD: "gate-for-reading",
  CLERK_PASSWORD: "clerk-for-reading",
};

/** The setups of pages, named in a comment that readers do not see. */
const SETUPS: Readonly<Record<string, (reader: Reader) => Promise<void>>> = {
  /** An empty folder. */
  none: async () => {},
  /** A tasc.yaml. */
  project: async (reader) => {
    reader.file(
      "tasc.yaml",
      'version: 1\nservice: { baseUrl: http://127.0.0.1:4010, apiKey: "${secret:TASC_API_KEY}" }\nstages: { staging: {}, production: {} }\ndefaultStage: staging\n',
    );
    Object.assign(reader.env, KEYS, SHOP_SECRETS);
  },
  /** The example project and an empty service. */
  shop: async (reader) => {
    cpSync("examples/shop", reader.folder, { recursive: true });
    rmSync(join(reader.folder, ".tasc"), { recursive: true, force: true });
    Object.assign(reader.env, KEYS, SHOP_SECRETS);
    await reader.serve();
  },
  /** The example project, applied to two stages, in a git repository. */
  "shop applied": async (reader) => {
    await SETUPS["shop"]?.(reader);
    for (const stage of ["staging", "production"])
      await reader.sh(`tasc apply --auto-approve --wait=1m --stage ${stage}`, 0, "setup");
    await reader.sh(
      "git init -q -b main . && git add -A && git -c user.name=a -c user.email=a@example.com commit -qm shop",
      0,
      "setup",
    );
  },
  /** A service with the resources of two stages, and no project. */
  "two services": async (reader) => {
    Object.assign(reader.env, KEYS);
    await reader.serve();
    const shop = mkdtempSync(join(home, "grown-"));
    cpSync("examples/shop", shop, { recursive: true });
    rmSync(join(shop, ".tasc"), { recursive: true, force: true });
    Object.assign(reader.env, SHOP_SECRETS);
    for (const stage of ["staging", "production"])
      await reader.sh(
        `tasc apply --chdir ${shop} --auto-approve --wait=1m --stage ${stage}`,
        0,
        "setup",
      );
  },
};

async function play(page: string): Promise<number> {
  const reader = new Reader(page);
  const setup = SETUPS[setupOf(page)];
  if (setup === undefined) throw new Error(`${page}: no such setup: ${setupOf(page)}`);
  await setup(reader);
  let output = "";
  let played = 0;
  const playBlock = async ({ language, mark, text, line }: Block): Promise<void> => {
    const where = `${page}:${line}`;
    const testedBy = /^tested-by=(.+)$/.exec(mark)?.[1];
    if (testedBy !== undefined)
      return expect(existsSync(testedBy), `${where}: ${testedBy}`).toBe(true);
    played++;
    if (mark.startsWith("file=")) return reader.file(mark.slice("file=".length), text);
    if (mark === "background") return reader.serve(text);
    // Commands and code of programs other than tasc are not run.
    if (language === "console" || language === "rego") return undefined;
    if (language === "yaml")
      return expect(
        parseAllDocuments(text).flatMap(({ errors }) => errors),
        where,
      ).toEqual([]);
    if (language === "sh") {
      output = await reader.sh(text, Number(/^exit=(\d+)$/.exec(mark)?.[1] ?? 0), where);
      return undefined;
    }
    if (language === "text") {
      for (const wanted of text.trimEnd().split("\n")) expect(output, where).toContain(wanted);
      return undefined;
    }
    throw new Error(`${where}: nobody runs or checks this block`);
  };
  for (const block of blocksOf(page)) await playBlock(block);
  return played;
}

// The README shows a plan of the demo, and pages about programs have their own tests.
const ELSEWHERE = [
  "docs/reference/commands.md",
  "docs/reference/errors.md",
  "docs/library.md",
  "docs/local-service.md",
  "docs/performance.md",
  "docs/architecture.md",
];

describe("every command and every YAML block of the manual works", () => {
  // Most of the time, a page waits for programs or for the service.
  test.concurrent.each(pages().filter((page) => !ELSEWHERE.includes(page)))("%s", async (page) => {
    const played = await play(page);
    expect(played).toBe(blocksOf(page).filter(({ mark }) => !mark.startsWith("tested-by=")).length);
  });
});

test("the pages that are tested elsewhere exist", () => {
  expect(ELSEWHERE.filter((page) => !existsSync(page) && !page.endsWith("errors.md"))).toEqual([]);
  expect(readdirSync("docs").length).toBeGreaterThan(5);
});
