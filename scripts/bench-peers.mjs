// Compares other tools with tasc at similar work: `npm run bench:peers`. It installs them from the
// registry into a temporary folder and answers in place of their services, so it is not part of CI.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { join } from "node:path";
import { writeFiles, writeProject } from "./bench/data.mjs";
import { KEY, inFolder } from "./bench/figures.mjs";
import { once, serve, tasc } from "./bench/run.mjs";

const PACKAGES = ["auth0-deploy-cli", "checkly", "js-yaml", "yaml"];
const FILES = 10_000;
const RESOURCES = 1000;
/** Milliseconds for each call that changes something. */
const LATENCY = 20;

await inFolder(async (folder) => {
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  execFileSync("npm", ["install", "--no-audit", "--no-fund", ...PACKAGES], {
    cwd: folder,
    stdio: "ignore",
  });
  console.log(
    `Node ${process.version}, ${PACKAGES.map((name) => `${name} ${manifestOf(folder, name).version}`).join(", ")}\n`,
  );
  await reading(folder);
  await validating(folder);
  await applying(folder);
});

function manifestOf(folder, name) {
  return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"));
}

function programOf(folder, name, program) {
  return join(folder, "node_modules", name, manifestOf(folder, name).bin[program]);
}

/** The better of two runs, which alternate. */
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
  // The tool asks for the account and the runtimes before it reads anything.
  const server = createServer((request, response) => {
    const runtimes = [
      { name: "2024.09", stage: "CURRENT", dependencies: {}, runtimeEndOfLife: null },
    ];
    const account = { id: "a", name: "a", runtimeId: "2024.09", entitlements: [] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(request.url?.includes("runtimes") ? runtimes : account));
  });
  const env = {
    CHECKLY_ENV: "local",
    CHECKLY_API_URL: await listening(server),
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

async function applying(folder) {
  const own = join(folder, "apply");
  writeProject(own, 1, RESOURCES, { status: "DISABLED" });
  const service = await serve(1, RESOURCES, LATENCY);
  const tenant = join(folder, "tenant.yaml");
  const clients = Array.from({ length: RESOURCES }, (_, at) => ({
    name: `c${at}`,
    description: "changed",
  }));
  writeFileSync(tenant, JSON.stringify({ clients }));
  const [key, certificate] = ["key.pem", "certificate.pem"].map((name) => join(folder, name));
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const made = [
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-keyout",
    key,
    "-out",
    certificate,
    ...subject,
  ];
  execFileSync("openssl", ["req", ...made], { stdio: "ignore" });
  let changes = 0;
  // The tool speaks only HTTPS, and reads the clients in pages before it sends a PATCH for each.
  const server = createSecureServer(
    { key: readFileSync(key), cert: readFileSync(certificate) },
    (request, response) => {
      const url = new URL(request.url ?? "", "https://localhost");
      const [page, size] = ["page", "per_page"].map((name) => Number(url.searchParams.get(name)));
      const shown = clients.slice(page * size, (page + 1) * size);
      const list = shown.map(({ name }) => ({ name, client_id: name, description: "before" }));
      if (request.method === "PATCH") changes++;
      request.resume();
      setTimeout(() => {
        response.setHeader("content-type", "application/json");
        response.end(
          request.method === "GET"
            ? JSON.stringify({
                clients: list,
                start: page * size,
                limit: size,
                total: clients.length,
              })
            : JSON.stringify({ client_id: url.pathname.split("/").at(-1) }),
        );
      }, LATENCY);
    },
  );
  const env = {
    AUTH0_DOMAIN: (await listening(server)).replace("http://", ""),
    AUTH0_ACCESS_TOKEN: "x",
    AUTH0_INCLUDED_ONLY: '["clients"]',
    NODE_EXTRA_CA_CERTS: certificate,
  };
  const cli = programOf(folder, "auth0-deploy-cli", "a0deploy");
  await compare(`Changing ${RESOURCES} resources, ${LATENCY} ms a call`, {
    "tasc apply": async () => {
      // The service forgets the changes of the previous round.
      await fetch(`${service.url}/phase`);
      return measured([tasc, "apply", "--auto-approve", "--chdir", own], {
        ...KEY,
        BENCH_URL: service.url,
      });
    },
    "a0deploy import": () => measured([cli, "import", "-i", tenant], env, folder),
  });
  if (changes !== 2 * RESOURCES)
    throw new Error(`a0deploy sent ${changes} PATCHes instead of ${2 * RESOURCES}`);
  server.close();
  service.stop();
}

function listening(server) {
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve(`http://localhost:${server.address().port}`)),
  );
}
