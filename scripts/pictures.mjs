// Draws the pictures of the README: the page of a plan and the comment on a pull request, both of a
// harmful change to the example project, in light and dark. `npm run build` first.
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { chromium } from "playwright-core";
import { openShop } from "./shop.mjs";

const IMAGES = join(import.meta.dirname, "..", "docs", "images");
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const LARGEST = 150_000;

const { page, comment } = await harmfulPlan();
const folder = mkdtempSync(join(tmpdir(), "tasc-pictures-"));
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ["--headless", "--no-sandbox", "--disable-gpu"],
});
try {
  mkdirSync(IMAGES, { recursive: true });
  for (const scheme of ["light", "dark"]) {
    await draw("plan-page", page, scheme, { width: 980, height: 700 });
    await draw("plan-comment", commentPage(comment), scheme, { width: 860, height: 560 });
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Plans a change that moves an environment, weakens a test case and switches another one off. */
async function harmfulPlan() {
  const shop = await openShop();
  try {
    await shop.run("apply", "--auto-approve", "--wait");
    shop.edit(
      "targets/shop.yaml",
      "discoveryUrl: https://preview.${var:host}",
      "discoveryUrl: https://preview.example.net",
    );
    shop.edit(
      "targets/shop-checkout.yaml",
      `      - assertion: { expectation: VISIBLE }
        locatorLine: "getByRole('heading', { name: 'Cart' })"
        ignoreFailure: true
`,
      "",
    );
    shop.rewriteOneAndSwitchOneOff();
    const plan = (format) => shop.run("plan", "--format", format);
    // The address of the local service is another one each time.
    const tidy = (text) =>
      text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "https://tests.example.com");
    return { page: tidy(await plan("html")), comment: tidy(await plan("markdown")) };
  } finally {
    shop.close();
  }
}

async function draw(name, html, colorScheme, viewport) {
  const source = join(folder, `${name}.html`);
  writeFileSync(source, html);
  const context = await browser.newContext({ colorScheme, viewport, deviceScaleFactor: 1 });
  const tab = await context.newPage();
  await tab.goto(pathToFileURL(source).href);
  const height = await tab.evaluate(() => document.body.scrollHeight);
  const path = join(IMAGES, `${name}-${colorScheme}.png`);
  const clip = {
    x: 0,
    y: 0,
    width: viewport.width,
    height: Math.min(height + 16, viewport.height),
  };
  await tab.setViewportSize({ ...viewport, height: Math.max(viewport.height, clip.height) });
  await tab.screenshot({ path, clip });
  await context.close();
  const { size } = statSync(path);
  if (size > LARGEST) throw new Error(`${path} has ${size} bytes, more than ${LARGEST}`);
  console.log(`${path}  ${size}`);
}

/** Draws a comment as a forge does: a frame with its author, tables, alerts and folded sections. */
function commentPage(markdown) {
  const body = micromark(markdown, {
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
    allowDangerousHtml: true,
  }).replaceAll(
    /<blockquote>\s*<p>\[!([A-Z]+)\]\s*/g,
    (_, kind) => `<blockquote class="${kind.toLowerCase()}"><p>`,
  );
  return `<!doctype html><meta charset="utf-8"><style>
:root { color-scheme: light dark; }
body { margin: 0; padding: 16px; font: 14px/1.5 system-ui, "DejaVu Sans", sans-serif;
  background: light-dark(#fff, #0d1117); color: light-dark(#1f2328, #e6edf3); }
article { border: 1px solid light-dark(#d1d9e0, #3d444d); border-radius: 6px; }
header { padding: 8px 16px; background: light-dark(#f6f8fa, #151b23);
  border-bottom: 1px solid light-dark(#d1d9e0, #3d444d); border-radius: 6px 6px 0 0;
  color: light-dark(#59636e, #9198a1); }
header b { color: light-dark(#1f2328, #e6edf3); }
main { padding: 4px 16px 12px; }
h3 { font-size: 1.2em; margin: 12px 0; }
code { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; padding: 2px 5px; border-radius: 6px;
  background: light-dark(#818b981f, #656c7633); }
pre { padding: 12px; border-radius: 6px; background: light-dark(#f6f8fa, #151b23); overflow: hidden; }
pre code { padding: 0; background: none; }
blockquote { margin: 0 0 12px; padding: 4px 14px; border-left: 4px solid light-dark(#d1d9e0, #3d444d); }
blockquote.caution { border-color: light-dark(#cf222e, #da3633); }
blockquote.warning { border-color: light-dark(#9a6700, #9e6a03); }
blockquote p { margin: 4px 0; } ul { margin: 4px 0; padding-left: 22px; }
details { margin: 8px 0; }
table { border-collapse: collapse; margin: 8px 0; }
th, td { border: 1px solid light-dark(#d1d9e0, #3d444d); padding: 5px 11px; text-align: left; }
</style><article><header><b>tasc</b> commented just now</header><main>${body}</main></article>`;
}
