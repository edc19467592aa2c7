// The baseline for validation: the usual parser on the same files. Argument: the folder of the
// files.
const { readdirSync, readFileSync } = require("node:fs");
const { parse } = require("yaml");

const folder = process.argv[2];
for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }))
  if (file.endsWith(".yaml")) parse(readFileSync(`${folder}/${file}`, "utf8"));
