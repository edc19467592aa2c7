// Measures the search for secrets in a text.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { inFolder, limit } from "./figures.mjs";
import { median, root } from "./run.mjs";

/**
 * A text of 100 KB that repeats some of 50 secrets of 3 KB in several forms, with a new redactor in
 * each round.
 */
export function redactRow(rounds) {
  return inFolder(async (folder) => {
    const bundle = await rolldown({
      input: join(root, "src", "render", "redact.ts"),
      platform: "node",
    });
    await bundle.write({ file: join(folder, "redact.mjs") });
    const { createRedactor } = await import(pathToFileURL(join(folder, "redact.mjs")));
    const secrets = Array.from({ length: 50 }, privateKey);
    const plain =
      "testCase.shop.login description: Log in with valid credentials → Log in\n".repeat(1200);
    const text = `${plain}${JSON.stringify(secrets[3])}${encodeURIComponent(secrets[7])}${secrets[9]}`;
    const times = [];
    for (let round = 0; round < rounds + 5; round++) {
      const started = performance.now();
      createRedactor(secrets).text(text.slice(-102_400));
      times.push(performance.now() - started);
    }
    return [limit("time for 100 KB, 50 secrets of 3 KB", median(times.slice(5)), 50, "ms")];
  });
}

function privateKey() {
  const lines = randomBytes(2200)
    .toString("base64")
    .match(/.{1,64}/g);
  return ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----", ""].join("\n");
}
