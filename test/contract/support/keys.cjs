// Deriving a key takes a command longer than everything else that it does, on purpose. All tests use
// the same few secrets, so each key is derived once, with Node's own function, and kept in a file for
// all processes. Node loads this before the program (`--require`); the program does not know of it.
const crypto = require("node:crypto");
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const path = require("node:path");

const folder = path.join(__dirname, "../../../.cache/keys");
/** @type {Map<string, Buffer>} */
const known = new Map();
const { scryptSync } = crypto;

/**
 * @param {string} password
 * @param {string} salt
 * @param {number} length
 * @param {import("node:crypto").ScryptOptions} options
 */
function derive(password, salt, length, options) {
  const name = crypto
    .createHash("sha256")
    .update(JSON.stringify([password, salt, length, options]))
    .digest("hex");
  let key = known.get(name) ?? readKey(name);
  if (key?.length !== length) {
    key = scryptSync(password, salt, length, options);
    writeKey(name, key);
  }
  known.set(name, key);
  return Buffer.from(key);
}

/** @param {string} name */
function readKey(name) {
  try {
    return readFileSync(path.join(folder, name));
  } catch {
    return undefined;
  }
}

/**
 * @param {string} name
 * @param {Buffer} key
 */
function writeKey(name, key) {
  try {
    mkdirSync(folder, { recursive: true });
    // Other processes read it at the same time, and this one may be killed.
    const whole = path.join(folder, `${name}-${process.pid}`);
    writeFileSync(whole, key);
    renameSync(whole, path.join(folder, name));
  } catch {
    // The folder may belong to another user; then each process derives the key itself.
  }
}

Object.assign(crypto, {
  scryptSync: derive,
  /** @param {[...Parameters<typeof derive>, (error: null, key: Buffer) => void]} args */
  scrypt: (...[password, salt, length, options, done]) =>
    void setImmediate(() => done(null, derive(password, salt, length, options))),
});
