// `tasc reports` and `tasc notifications`.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newestReports, reportView } from "../../src/inspect/reports.ts";
import { createRedactor } from "../../src/render/redact.ts";
import { PLAIN } from "../../src/render/style.ts";
import { show } from "../../src/render/view.ts";
import type { LiveReport, NewReports } from "../../src/service/answers.ts";
import { anyCharacter } from "../any-character.ts";
import {
  CART,
  COOKIE,
  LOGIN,
  SECRETS,
  type Scene,
  TARGET,
  appliedScene,
  at,
  id,
  json,
  listAt,
  scene,
  steady,
  textAt,
} from "./scene.ts";

function report(reportId: string, createdAt: string | undefined): LiveReport {
  return {
    id: reportId,
    testTargetId: undefined,
    createdAt,
    updatedAt: undefined,
    executionUrl: undefined,
    status: undefined,
    context: undefined,
    breakpoint: undefined,
    browser: undefined,
    results: [],
  };
}

describe("the newest reports", () => {
  /** Times in several formats, so that their order differs from their order as text. */
  const timeOf = (n: number): string => {
    const text = new Date(Date.UTC(2030, 0, 1) + n).toISOString();
    return (
      [text, text.replace(/\.?0*Z$/, "Z"), text.replace("T00", "T02").replace("Z", "+02:00")][
        n % 3
      ] ?? ""
    );
  };
  const reports = fc
    .uniqueArray(fc.integer({ min: 0, max: 999 }), { maxLength: 20 })
    .map((numbers) => numbers.map((n) => report(`r${n}`, timeOf(n))));

  /** Yields pages of the given size and counts the requested ones. */
  async function* pages(all: readonly LiveReport[], size: number, asked: { count: number }) {
    for (let from = 0; from === 0 || from < all.length; from += size) {
      asked.count += 1;
      const page: NewReports = {
        reports: all.slice(from, from + size),
        next: from + size < all.length ? "more" : "end",
      };
      yield page;
    }
  }

  const ids = (all: readonly LiveReport[]): readonly string[] => all.map((one) => one.id);
  const descending = (all: readonly LiveReport[]): readonly LiveReport[] =>
    all.toSorted((a, b) => Number(b.id.slice(1)) - Number(a.id.slice(1)));

  test("are found in ascending and descending lists", async () => {
    await fc.assert(
      fc.asyncProperty(
        reports,
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 25 }),
        fc.boolean(),
        async (unsorted, size, limit, turned) => {
          const all = turned ? descending(unsorted).toReversed() : descending(unsorted);
          const read = await newestReports(pages(all, size, { count: 0 }), limit);
          expect(ids(read.reports)).toEqual(ids(descending(all).slice(0, limit)));
        },
      ),
    );
  });

  test("are found with as few pages as possible if the newest come first", async () => {
    await fc.assert(
      fc.asyncProperty(
        reports,
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 20 }),
        async (all, size, limit) => {
          const asked = { count: 0 };
          await newestReports(pages(descending(all), size, asked), limit);
          const most = Math.max(1, Math.ceil(Math.min(Math.max(limit, 2), all.length) / size));
          expect(asked.count).toBe(most);
        },
      ),
    );
  });
});

/** Mostly special characters of XML. */
const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...Array.from("<>&\"'/]=!\n\u0000")),
    fc.string({ unit: anyCharacter, maxLength: 1 }),
  ),
});

describe("JUnit", () => {
  test("is valid XML for any names and error messages", () => {
    fc.assert(
      fc.property(hostile, hostile, (name, errorMessage) => {
        const result = {
          id: "r",
          testCaseId: "c",
          name,
          createdAt: undefined,
          updatedAt: undefined,
          status: "FAILED",
          errorMessage,
          traceUrl: undefined,
        };
        const one = { ...report("r1", undefined), results: [result] };
        const view = reportView({ ...one, target: "shop" }, () => undefined);
        const xml = show(view, "junit", { redactor: createRedactor([]), style: PLAIN, width: 80 });
        // Only our own tags, each with an even number of quotes.
        const tags = xml.match(/<[^>]*>/g) ?? [];
        expect(tags.map((tag) => /^<[/?]?(\w+)/.exec(tag)?.[1])).toEqual([
          "xml",
          "testsuites",
          "testsuite",
          "testcase",
          "failure",
          "failure",
          "testcase",
          "testsuite",
          "testsuites",
        ]);
        for (const tag of tags) expect((tag.match(/"/g) ?? []).length % 2).toBe(0);
      }),
    );
  });
});

describe("a report", () => {
  const shownAs = (format: string, text: string, secrets: readonly string[] = []): string => {
    const result = {
      id: text,
      testCaseId: text,
      name: undefined,
      createdAt: text,
      updatedAt: text,
      status: "FAILED",
      errorMessage: text,
      traceUrl: text,
    };
    const one = {
      ...report(text, text),
      context: { [text]: text },
      browser: text,
      results: [result, { ...result, status: text }],
    };
    const view = reportView({ ...one, target: "shop" }, () => undefined);
    return show(view, format, { redactor: createRedactor(secrets), style: PLAIN, width: 80 });
  };

  test.each(["text", "json", "junit"])("shows no secret in any field as %s", (format) => {
    expect(shownAs(format, "hunter2-secret")).toContain("hunter2");
    // A short secret is only redacted in its exact case.
    for (const secret of ["hunter2-secret", "Hunter2"])
      expect(shownAs(format, secret, [secret])).not.toMatch(/hunter2/i);
  });

  test("with 100,000 lines is written in less than 5 s of CPU time", () => {
    const started = process.cpuUsage();
    shownAs("junit", `${" \n".repeat(100_000)}:${"\n".repeat(100_000)}`);
    expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
  });
});

/** Creates a finished report and a waiting one. */
async function run(stage: Scene): Promise<void> {
  const begin = (cases: readonly string[]) =>
    stage.control("POST", "/reports", {
      testTargetId: TARGET,
      testCaseIds: [...cases],
      browser: "FIREFOX",
    });
  const first = await begin([COOKIE, LOGIN, id(0x13)]);
  await stage.control("POST", `/reports/${textAt(first, "id")}/results`, {
    results: { [COOKIE]: "PASSED", [LOGIN]: "FAILED", [id(0x13)]: "SKIPPED" },
    errorMessage: `No greeting for ${SECRETS.QA_USER}\n::error::at step 3`,
  });
  await begin([CART]);
}

describe.concurrent("tasc reports", () => {
  test("lists and shows reports with addresses of bound test cases and without secrets", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      await stage.run(["apply", "--auto-approve"]);
      await run(stage);
      const list = await stage.run(["reports", "list"]);
      expect(list).toMatchObject({ code: 0, stderr: "" });
      await expect(list.stdout).toMatchFileSnapshot("golden/reports.txt");
      const data = json(await stage.run(["reports", "list", "--limit", "1", "--format", "json"]));
      expect(listAt(data, "reports").map((one) => at(one, "status"))).toEqual(["WAITING"]);

      const all = json(
        await stage.run(["reports", "list", "--target", "shop", "--format", "json"]),
      );
      const failed = textAt(all, "reports", 1, "id");
      const text = await stage.run(["reports", "show", failed]);
      await expect(text.stdout).toMatchFileSnapshot("golden/report.txt");
      const junit = await stage.run(["reports", "show", failed, "--junit"]);
      await expect(junit.stdout).toMatchFileSnapshot("golden/report.junit.xml");
      const shown = json(await stage.run(["reports", "show", failed, "--format", "json"]));
      expect(at(shown, "summary")).toEqual({ PASSED: 1, FAILED: 1, WAITING: 0, SKIPPED: 1 });
      expect(at(shown, "results", 1)).toMatchObject({
        address: "testCase.shop.login",
        errorMessage: "No greeting for (sensitive)\n::error::at step 3",
      });
      expect(at(shown, "results", 2, "address")).toBeNull();
    });
  });

  test("shows no secret that a name or URL contained at the last apply", async () => {
    await scene(async (stage) => {
      const declare = (value: string): void =>
        stage.write(
          "targets/shop.yaml",
          `target: shop
app: Web Shop
environments: { default: { discoveryUrl: "https://shop.example.com/${value}" } }
testCases: { login: { id: ${LOGIN}, description: "Log in ${value}" } }
`,
        );
      declare("${secret:QA_USER}");
      expect((await stage.run(["apply", "--auto-approve"])).code).toBe(0);
      const begun = await stage.control("POST", "/reports", {
        testTargetId: TARGET,
        testCaseIds: [LOGIN],
      });
      const report = textAt(begun, "id");
      await stage.control("POST", `/reports/${report}/results`, { results: { [LOGIN]: "FAILED" } });
      declare("now");
      for (const args of [
        ["list", "--json"],
        ["show", report],
        ["show", report, "--json"],
        ["show", report, "--junit"],
      ]) {
        // oxlint-disable-next-line no-await-in-loop
        const { code, stdout } = await stage.run(["reports", ...args]);
        expect(code).toBe(0);
        expect(stdout).toContain(report);
        expect(stdout).not.toContain(SECRETS.QA_USER);
      }
    });
  });

  test("reads every page by the key in the previous answer", async () => {
    await scene(
      async (stage) => {
        for (let n = 0; n < 5; n++)
          await stage.control("POST", "/reports", { testTargetId: TARGET });
        const ran = await stage.run(["reports", "list", "--format", "json"]);
        expect(ran.stderr).toBe("");
        const created = listAt(json(ran), "reports").map((one) => textAt(one, "createdAt"));
        expect(created).toHaveLength(5);
        expect(created).toEqual(created.toSorted().toReversed());
        expect(at(json(ran), "complete")).toBe(true);
      },
      { settings: { pageSize: 2 } },
    );
  });

  test("stops at a page without new reports and gives a warning", async () => {
    await scene(
      async (stage) => {
        for (let n = 0; n < 5; n++)
          await stage.control("POST", "/reports", { testTargetId: TARGET });
        const ran = await stage.run(["reports", "list", "--format", "json"]);
        expect(ran.code).toBe(0);
        expect(ran.stderr).toContain(
          "The list of reports of target shop ends here, but there may be more",
        );
        expect(at(json(ran), "complete")).toBe(false);
        expect(listAt(json(ran), "reports")).toHaveLength(2);
      },
      { settings: { pageSize: 2, pageParameter: "none" } },
    );
  });
});

describe.concurrent("wrong arguments", () => {
  const play = appliedScene();

  test("exit with 3, an unknown report with 1, a wrong key with 6", async () => {
    await play(async (stage) => {
      const wrong = [
        ["reports", "list", "--limit", "0"],
        ["reports", "list", "--target", "shpo"],
        ["reports", "show", id(1), "--junit", "--format", "json"],
        ["reports", "show", "../x"],
        ["notifications", "--interval", "soon"],
        ["notifications", "--follow", "--format", "json"],
      ];
      for (const args of wrong) expect((await stage.run(args)).code, args.join(" ")).toBe(3);
      const none = await stage.run(["reports", "show", id(0x77)]);
      expect(none.code).toBe(1);
      expect(none.stderr).toContain(`There is no report ${id(0x77)}`);
      expect((await stage.run(["reports", "list"], { TASC_API_KEY: "another-key" })).code).toBe(6);
      expect((await stage.run(["notifications"], { TASC_API_KEY: "another-key" })).code).toBe(6);
    });
  });
});

describe.concurrent("tasc notifications", () => {
  test("lists notifications oldest first, with addresses of bound test cases", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      await stage.run(["apply", "--auto-approve"]);
      await stage.control("POST", "/edit", {
        kind: "testCase",
        id: LOGIN,
        set: { externalId: "E-1" },
      });
      await run(stage);
      await discover(stage, "Buy a thing");
      const ran = await stage.run(["notifications"]);
      expect(ran).toMatchObject({ code: 0, stderr: "" });
      await expect(steady(ran.stdout, stage)).toMatchFileSnapshot("golden/notifications.txt");
      const data = json(await stage.run(["notifications", "--target", "shop", "--format", "json"]));
      expect(listAt(data, "notifications").map((one) => at(one, "type"))).toEqual([
        "REPORT_EXECUTION_FINISHED",
        "DISCOVERY_FINISHED",
      ]);
    });
  });

  test("prints each new notification once with --follow until it is interrupted", async () => {
    await scene(async (stage) => {
      await discover(stage, "First");
      const running = stage.start(["notifications", "--follow", "--interval", "20ms"]);
      await running.saw(/DISCOVERY_FINISHED/);
      await discover(stage, "Second");
      await running.saw(/DISCOVERY_FINISHED[^]*DISCOVERY_FINISHED/);
      running.child.kill("SIGINT");
      const ran = await running.done;
      expect(ran.code).toBe(130);
      expect(ran.stdout.match(/DISCOVERY_FINISHED/g)).toHaveLength(2);
    });
  });

  async function discover(stage: Scene, name: string): Promise<void> {
    const response = await fetch(
      `${stage.server.url}/apiKey/v3/test-targets/${TARGET}/discoveries`,
      {
        method: "POST",
        headers: { "x-api-key": "the-api-key-of-the-tests", "content-type": "application/json" },
        body: JSON.stringify({ name, prompt: "Do it." }),
      },
    );
    if (!response.ok) throw new Error(await response.text());
    await stage.control("POST", "/discoveries/finish");
  }
});
