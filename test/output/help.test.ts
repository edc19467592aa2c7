// Help is printed from texts made by the build. They must equal the texts of the parser.
import { spawnSync } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runHere } from "../contract/support/here.ts";
import { readyTexts } from "../../scripts/help.ts";

const DIST = join(import.meta.dirname, "../../dist");

function tasc(args: readonly string[], stdout: "pipe" | number = "pipe") {
  const {
    status,
    stdout: text,
    stderr,
  } = spawnSync(process.execPath, [join(DIST, "tasc.cjs"), ...args], {
    stdio: ["ignore", stdout, "pipe"],
    encoding: "utf8",
  });
  return { status, text, stderr };
}

test("the help texts of the build match the command table", async () => {
  const texts = await readyTexts(readFileSync(join(DIST, "version.txt"), "utf8").trim());
  for (const [file, text] of Object.entries(texts))
    expect(readFileSync(join(DIST, file), "utf8")).toBe(text);
});

test.each(["--help", "-h", "--version", "-v", "-V"])(
  "%s prints the same text as the parser",
  async (word) => {
    const { status, text, stderr } = tasc([word]);
    // With another option, the parser prints the text.
    const parsed = await runHere(["--no-color", word], ".", {});
    expect({ code: status, stdout: text, stderr }).toEqual(parsed);
    expect(parsed).toMatchObject({ code: 0, stderr: "" });
  },
);

test("help has a line for each command, the global options once, and the manual", () => {
  const { text } = tasc(["--help"]);
  const [above = "", ...groups] = text.split(/\n\n(?=[A-Z][a-z]+:\n)/);
  expect(above).toContain("Global options:");
  expect(groups.map((group) => group.split(":", 1)[0])).toEqual([
    "Start",
    "Write",
    "Review",
    "Apply",
    "Stages",
    "Service",
    "State",
  ]);
  for (const line of groups.join("\n").split("\n"))
    expect(line).toMatch(/^(?:$|[A-Z][a-z]+:|Manual: https:|  [a-z]+ +\S.{0,57}$)/);
  const own = tasc(["plan", "--help"]).text;
  expect(own.match(/^Global options:$/gm)).toHaveLength(1);
  expect(own.match(/--stage <stage>/g)).toHaveLength(1);
});

test("the demo fits on a screen", () => {
  const demo = join(DIST, "../scripts/demo.mjs");
  const ran = spawnSync(process.execPath, [demo], { encoding: "utf8" });
  expect(ran.stderr).toBe("");
  // npm adds eight lines.
  expect(ran.stdout.split("\n").length).toBeLessThanOrEqual(52);
  expect(ran.stdout.match(/^No changes\./gm)).toHaveLength(2);
});

test.runIf(process.platform === "linux")(
  "help that cannot be written is reported as an error",
  { meta: { needs: "Linux" } },
  () => {
    const { status, stderr } = tasc(["--help"], openSync("/dev/full", "w"));
    expect(status).toBe(1);
    expect(stderr).toContain("Standard output cannot be written");
  },
);
