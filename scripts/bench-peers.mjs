// Other tools at like work, side by side with tasc: `npm run bench:peers`. It installs them from the registry into a
// temporary folder and answers in place of their services, so it is no part of CI.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { createServer as createPlainServer } from "node:http";
import { join } from "node:path";
import { writeFiles, writeProject } from "./bench/data.mjs";
import { KEY, inFolder } from "./bench/figures.mjs";
import { once, serve, tasc } from "./bench/run.mjs";

const PACKAGES = ["auth0-deploy-cli", "checkly", "js-yaml", "yaml"];
const FILES = 10_000;
const RESOURCES = 1000;

await inFolder(async (folder) => {
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  execFileSync("npm", ["install", "--no-audit", "--no-fund", ...PACKAGES], { cwd: folder, stdio: "ignore" });
  console.log(
    `Node ${process.version}, ${PACKAGES.map((name) => `${name} ${manifestOf(folder, name).version}`).join(", ")}\n`,
  );
  await reading(folder);
  await validating(folder);
  await importing(folder);
});

function manifestOf(folder, name) {
  return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"));
}

function programOf(folder, name, program) {
  const { bin } = manifestOf(folder, name);
  return join(folder, "node_modules", name, bin[program]);
}

/** The better of two runs, in turn. */
async function compare(title, runs) {
  const best = new Map();
  for (let round = 0; round < 2; round++)
    for (const [name, run] of Object.entries(runs)) {
      const { ms, cpu, mib } = await run();
      if (!(best.get(name)?.ms < ms)) best.set(name, { ms, cpu, mib });
    }
  console.log(title);
  for (const [name, { ms, cpu, mib }] of best)
    console.log(
      `  ${name.padEnd(40)} ${(ms / 1000).toFixed(2).padStart(7)} s  CPU ${(cpu / 1000).toFixed(2)} s  ${Math.round(mib)} MiB`,
    );
}

function measured(args, env, cwd) {
  return once(args, { env, usage: true, cwd });
}

async function reading(folder) {
  const project = join(folder, "files");
  writeFiles(project, FILES);
  const cases = join(project, "targets", "cases");
  const loop = (name, call) => {
    const file = join(folder, `${name}.cjs`);
    writeFileSync(
      file,
      `const fs = require("node:fs"); const lib = require(${JSON.stringify(name)});
for (const file of fs.readdirSync(${JSON.stringify(cases)})) lib.${call}(fs.readFileSync(${JSON.stringify(`${cases}/`)} + file, "utf8"));`,
    );
    return () => measured([file], {});
  };
  await compare(`${FILES} YAML files`, {
    "tasc validate": () =>
      measured([tasc, "validate", "--chdir", project], { ...KEY, BENCH_URL: "http://127.0.0.1:1" }),
    "js-yaml, parsing alone": loop("js-yaml", "load"),
    "yaml, parsing alone": loop("yaml", "parse"),
  });
}

async function validating(folder) {
  const own = join(folder, "own");
  writeFiles(own, RESOURCES);
  const checks = join(folder, "checks");
  mkdirSync(checks);
  writeFileSync(join(checks, "package.json"), '{ "private": true }');
  writeFileSync(
    join(checks, "checkly.config.js"),
    'const { defineConfig } = require("checkly");\nmodule.exports = defineConfig({ projectName: "p", logicalId: "p", checks: { checkMatch: "**/*.check.js", frequency: 10, locations: ["eu-west-1"] } });\n',
  );
  for (let at = 0; at < RESOURCES; at++)
    writeFileSync(
      join(checks, `c${at}.check.js`),
      `const { ApiCheck } = require("checkly/constructs");\nnew ApiCheck("check-${at}", { name: "Check ${at}", request: { url: "https://example.com/${at}", method: "GET" } });\n`,
    );
  // It asks for the account and for the runtimes before it reads anything.
  const server = createPlainServer((request, response) => {
    const runtimes = [{ name: "2024.09", stage: "CURRENT", dependencies: {}, runtimeEndOfLife: null }];
    const account = { id: "a", name: "a", runtimeId: "2024.09", entitlements: [] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(request.url?.includes("runtimes") ? runtimes : account));
  });
  const env = {
    CHECKLY_ENV: "local",
    CHECKLY_API_URL: await listening(server, "http"),
    CHECKLY_API_KEY: "cu_x",
    CHECKLY_ACCOUNT_ID: "a",
    CHECKLY_SKIP_UPDATE_CHECK: "1",
  };
  const cli = programOf(folder, "checkly", "checkly");
  await compare(`Validating ${RESOURCES} resources, a file each`, {
    "tasc validate": () =>
      measured([tasc, "validate", "--chdir", own], { ...KEY, BENCH_URL: "http://127.0.0.1:1" }),
    "checkly validate": () => measured([cli, "validate"], env, checks),
  });
  server.close();
}

async function importing(folder) {
  const project = join(folder, "own-import");
  const service = await serve(1, RESOURCES, 0);
  writeProject(project, 1, RESOURCES, { status: "DISABLED" });
  const tenant = join(folder, "tenant.yaml");
  const clients = Array.from({ length: RESOURCES }, (_, at) => `  - name: Client ${at}\n    app_type: spa\n`);
  writeFileSync(tenant, `clients:\n${clients.join("")}`);
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-days", "1", "-nodes"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-keyout", key, "-out", cert, ...subject], {
    stdio: "ignore",
  });
  let made = 0;
  const auth0 = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      if (request.method === "POST")
        response.end(JSON.stringify({ client_id: `c${made++}`, ...JSON.parse(body) }));
      else response.end(JSON.stringify({ clients: [], start: 0, limit: 50, length: 0, total: 0 }));
    });
  });
  const env = {
    AUTH0_DOMAIN: new URL(await listening(auth0, "https")).host,
    AUTH0_ACCESS_TOKEN: "t",
    AUTH0_INCLUDED_ONLY: '["clients"]',
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
  };
  const cli = programOf(folder, "auth0-deploy-cli", "a0deploy");
  await compare(`Writing ${RESOURCES} resources, no latency`, {
    "tasc apply (1,000 PATCHes)": async () => {
      await fetch(`${service.url}/phase`);
      return measured([tasc, "apply", "--auto-approve", "--chdir", project], {
        ...KEY,
        BENCH_URL: service.url,
      });
    },
    "a0deploy import (1,000 POSTs)": async () => {
      made = 0;
      const result = await measured([cli, "import", "--input_file", tenant], env, folder);
      if (made !== RESOURCES) throw new Error(`a0deploy made ${made} clients`);
      return result;
    },
  });
  service.stop();
  auth0.close();
}

function listening(server, scheme) {
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve(`${scheme}://localhost:${server.address().port}`)),
  );
}
