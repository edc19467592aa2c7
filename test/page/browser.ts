import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, type Page, chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import { pageOf, shown } from "../render/sample.ts";

const CHROMIUM = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "chromium"))
  .find((file) => existsSync(file));

/** The pages are tested in a real browser if one is installed. */
export const NO_BROWSER = CHROMIUM === undefined;
export const NEEDS = { meta: { needs: "chromium" } } as const;

/** Milliseconds; enough for busy machines. */
const PATIENCE = 120_000;

const QUIET = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The page of a plan, opened from a file. */
export interface Opened {
  readonly page: Page;
  /** The requests other than the one for the page itself. */
  readonly requests: readonly string[];
  /** Errors of the page's script, and messages in the console, e.g. violations of its policy. */
  readonly complaints: readonly string[];
  /** Dialogs that a script opened. */
  readonly dialogs: readonly string[];
}

export interface OpenOptions extends BrowserContextOptions {
  /** The end of the URL, with `#`. */
  readonly hash?: string;
}

/**
 * Opens plans, or pages that are already rendered. Each test file has its own browser, and each
 * page its own context.
 */
export function browserForFile(): (plan: Plan | string, options?: OpenOptions) => Promise<Opened> {
  const dir = mkdtempSync(join(tmpdir(), "tasc-page-"));
  let browser: Browser | undefined;
  const files = new Map<Plan | string, string>();
  const fileOf = (plan: Plan | string): string => {
    const known = files.get(plan);
    if (known !== undefined) return known;
    const file = join(dir, `${files.size}.html`);
    writeFileSync(file, typeof plan === "string" ? plan : render(plan));
    files.set(plan, file);
    return file;
  };
  beforeAll(async () => {
    if (CHROMIUM !== undefined)
      browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  });
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return async (plan, { hash = "", ...options } = {}) => {
    if (browser === undefined) throw new Error("Chromium is not on the PATH.");
    const page = await (await browser.newContext(options)).newPage();
    page.setDefaultTimeout(PATIENCE);
    const url = pathToFileURL(fileOf(plan)).href;
    const requests: string[] = [];
    const complaints: string[] = [];
    const dialogs: string[] = [];
    page.on("request", (request) => {
      if (request.url().split("#")[0] !== url) requests.push(request.url());
    });
    page.on("pageerror", ({ message }) => complaints.push(message));
    page.on("console", (message) => complaints.push(message.text()));
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    await page.goto(url + hash);
    return { page, requests, complaints, dialogs };
  };
}

function render(plan: Plan): string {
  return pageOf(shown(plan).view);
}
