import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PROJECT = `version: 1
service: { baseUrl: "\${env:BASE}", apiKey: "\${secret:KEY}", concurrency: 4, retries: 2, requestTimeout: 5s }
`;

/**
 * A project whose first apply takes about 40 calls of every kind, with names and addresses that are
 * easily confused.
 */
export function writeFaultProject(folder: string): void {
  mkdirSync(join(folder, "targets"), { recursive: true });
  writeFileSync(join(folder, "tasc.yaml"), PROJECT);
  writeFileSync(join(folder, "targets", "shop.yaml"), target("shop", 9, true));
  writeFileSync(join(folder, "targets", "office.yaml"), target("office", 5, false));
}

function target(key: string, cases: number, withBatch: boolean): string {
  return `target: ${key}
app: ${key} app
timeoutPerStep: 1000
environments:
  default:
    discoveryUrl: https://${key}.example.com
    testAccount: { username: qa, password: "\${secret:PASSWORD}" }
  preview: { discoveryUrl: "https://preview.${key}.example.com" }
  canary: { name: Preview, discoveryUrl: "https://canary.${key}.example.com" }
defaults:
  testCases: { status: ENABLED, runStatus: ON, folder: Main }
testCases:
  first: { description: First, discovery: { prompt: Begin. } }
  same-a: { description: Same, externalId: A, discovery: { prompt: Do a., prerequisite: first } }
  same-b: { description: Same, externalId: B, discovery: { prompt: Do b., prerequisite: first } }
${Array.from({ length: cases - 3 }, (_, at) => `  case-${at}: { description: Case ${at}, tags: [t${at % 3}], discovery: { prompt: Do ${at}., prerequisite: first } }`).join("\n")}
${withBatch ? "batchGenerations:\n  spring: { prompt: Cover the campaign., prerequisite: first }\n" : ""}`;
}
