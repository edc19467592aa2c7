// Lists the other packages in the bundle: their licences, which must be part of every copy, and a
// software bill of materials (CycloneDX) for audit tools.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

/** Writes both into a folder. @param modules paths of all bundled files */
export function writeThirdParty(root, folder, modules) {
  const packages = packagesOf(root, modules);
  writeFileSync(
    join(folder, "THIRD-PARTY-LICENSES.txt"),
    packages.map(licenceText).join(`\n${"-".repeat(80)}\n\n`),
  );
  writeFileSync(
    join(folder, "sbom.cdx.json"),
    `${JSON.stringify(bom(root, packages), undefined, 2)}\n`,
  );
}

const byName = (a, b) => (a < b ? -1 : 1);

/** Licences that require no notice; packages under them may come without a licence text. */
const FREE = ["Unlicense", "CC0-1.0", "0BSD"];

function packagesOf(root, modules) {
  const folders = new Set(
    modules.map((module) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(module)?.[0]),
  );
  folders.delete(undefined);
  return [...folders].toSorted(byName).map((folder) => {
    const { name, version, license, description } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    );
    const file = readdirSync(folder).find((each) =>
      /^((un)?licen[cs]e|copying)(\.\w+)?$/i.test(each),
    );
    if (typeof license !== "string" || (file === undefined && !FREE.includes(license)))
      throw new Error(`${name} is bundled, and its licence cannot be found in ${folder}`);
    const text =
      file === undefined
        ? `In the public domain (https://spdx.org/licenses/${license}.html).`
        : readFileSync(join(folder, file), "utf8");
    return { path: relative(root, folder), name, version, license, description, text };
  });
}

function licenceText({ name, version, license, text }) {
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}

function bom(root, packages) {
  const { name, version, description, license } = manifest(root);
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const own = {
    "bom-ref": `${name}@${version}`,
    type: "application",
    ...component({ name, version, description, license }),
  };
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { lifecycles: [{ phase: "build" }], component: own },
    components: packages.map((each) => ({
      "bom-ref": `${each.name}@${each.version}`,
      type: "library",
      ...component(each),
      ...hashes(lock.packages[each.path]?.integrity),
    })),
    dependencies: [
      { ref: own["bom-ref"], dependsOn: packages.map((each) => `${each.name}@${each.version}`) },
      ...packages.map((each) => ({ ref: `${each.name}@${each.version}`, dependsOn: [] })),
    ],
  };
}

function component({ name, version, description, license }) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return {
    name,
    version,
    ...(description ? { description } : {}),
    purl,
    licenses: [{ license: { id: license } }],
  };
}

function hashes(integrity) {
  const [algorithm, digest] = integrity?.split("-", 2) ?? [];
  if (algorithm !== "sha512") return {};
  return { hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }] };
}

function manifest(root) {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}
