/** What the catalogue of errors says of a code. */
export interface ErrorCode {
  readonly title: string;
  readonly explanation: string;
  readonly remedy: string;
}

/**
 * The catalogue of the codes of manifests. `tasc explain CODE` prints an entry and the docs list them all; a test ties it
 * to the code. A code never changes its meaning, and one that goes is not used again.
 */
const ROWS: readonly (readonly [code: string, title: string, explanation: string, remedy: string])[] = [
  [
    "bad-glob",
    "A glob cannot be used",
    "A pattern for addresses is malformed or would take too long to match.",
    "Correct it. `*` is any text, `?` one character, `{a,b}` either, `[a-c]` one of a range.",
  ],
  [
    "bad-key",
    "A key is not allowed",
    "Keys of resources are letters, digits, `_` and `-`; reserved names and interpolations are not allowed.",
    "Rename the key.",
  ],
  [
    "bad-pattern",
    "A manifest pattern cannot be used",
    "An entry of `manifests` is malformed, absolute, or leaves the project folder.",
    "Write a pattern inside the project folder, e.g. `targets/**/*.yaml`.",
  ],
  [
    "bad-placeholder",
    "Unknown interpolation",
    "`${…}` is only used for `env`, `secret`, `file`, `var` and `stage`.",
    "Correct it, or write `$${` for a literal `${`.",
  ],
  [
    "bad-trust-file",
    "The trust file cannot be used",
    "The file of `--trust` or TASC_TRUST is missing or malformed. No limit may be lost to a typing error, so tasc stops.",
    "Correct the file.",
  ],
  [
    "bad-value",
    "A value does not fit",
    "The value has the wrong type or is not one of the allowed ones.",
    "Write one of the values that the message lists.",
  ],
  [
    "base-url-interpolation",
    "An interpolation is not allowed in baseUrl",
    "The API key is sent to `service.baseUrl`, so a value that a pull request controls may not add to its path, and secrets may not be part of it.",
    "Use `${env:…}`, `${var:…}` or `${stage}` before the path only.",
  ],
  [
    "credential-in-env",
    "A credential is read by ${env:}",
    "Values of `${env:…}` are shown in plans, and the name of this variable looks like a credential.",
    "Use `${secret:NAME}`, or rename the variable.",
  ],
  [
    "duplicate",
    "Something is declared twice",
    "Two documents of a target declare the same resource, field or default.",
    "Remove or rename one of the two.",
  ],
  [
    "duplicate-app",
    "Two targets have one app",
    "A live test target with this `app` would match both.",
    "Change one of the two, or bind them with `id:`.",
  ],
  [
    "duplicate-description",
    "Two test cases have one description",
    "A live test case with this name would match both.",
    "Give each test case a unique description, or an `externalId`.",
  ],
  [
    "duplicate-external-id",
    "Two test cases have one externalId",
    "A live test case with this id would match both.",
    "Change or remove one of the two.",
  ],
  [
    "duplicate-id",
    "Two addresses have one id",
    "A live resource can only be bound to one address.",
    "Correct or remove one of the two.",
  ],
  [
    "escaping-link",
    "A symbolic link leaves the project",
    "Manifests must be inside the project folder.",
    "Copy the file into the project, or narrow the pattern.",
  ],
  [
    "foreign-key",
    "An option of another state backend",
    "Each backend of `state` has options of its own.",
    "Remove the option, or choose the backend that it belongs to.",
  ],
  [
    "managed-prerequisite",
    "The prerequisite is managed here",
    "`{ description: … }` is for test cases that no manifest declares.",
    "Write the key of the test case.",
  ],
  [
    "missing-env",
    "An environment variable is not set",
    "`${env:NAME}` reads it and has no fallback.",
    "Set it, or write `${env:NAME:-fallback}`.",
  ],
  ["missing-key", "A required key is missing", "The document cannot be used without it.", "Add the key."],
  [
    "missing-secret",
    "A secret is not set",
    "`${secret:NAME}` reads an environment variable that is missing or empty.",
    "Set it, or run with `--allow-missing-secrets` to skip the fields that use it.",
  ],
  [
    "misspelt-default",
    "A misspelt default environment",
    "Only the key `default` means the service's DEFAULT environment.",
    "Write `default`, or choose a different key.",
  ],
  ["move-cycle", "Circular moves", "Each of the addresses is moved to the next.", "Remove one of the moves."],
  [
    "move-elsewhere",
    "A move leaves its target",
    "`moved` renames within one target.",
    "Run `tasc state mv FROM TO`.",
  ],
  [
    "move-kind",
    "A move changes the kind",
    "A resource cannot become one of another kind.",
    "Correct the addresses.",
  ],
  [
    "move-of-declared",
    "A moved address is still declared",
    "`from` of a move is an address that is no longer used.",
    "Remove the declaration, or the move.",
  ],
  [
    "move-twice",
    "An address is moved twice",
    "It is unclear which of the two moves counts.",
    "Remove one of them.",
  ],
  [
    "no-manifests",
    "There are no target documents",
    "No file matches `manifests`.",
    "Write one, for example with `tasc new target shop`.",
  ],
  [
    "no-project",
    "There is no tasc.yaml",
    "tasc runs in a project folder or below it.",
    "Use `--chdir DIR`, or run `tasc init`.",
  ],
  [
    "no-stage",
    "No stage is selected",
    "The project has several stages and names no default.",
    "Use `--stage`, TASC_STAGE or `defaultStage`.",
  ],
  [
    "prerequisite-cycle",
    "Circular prerequisites",
    "Each of the test cases runs after the next.",
    "Remove one of the prerequisites.",
  ],
  [
    "secret-in-clear",
    "A secret does not come from a secret",
    "Passwords and keys written in a file stay in git history.",
    "Write `${secret:NAME}` or `${file:path}`.",
  ],
  [
    "secret-misplaced",
    "A secret is where it would be shown",
    "The value is shown in plans and messages.",
    "Use `${env:NAME}`.",
  ],
  [
    "too-long",
    "An interpolated text is too long",
    "Variables that refer to one another several times can grow without bound.",
    "Write the value in full, or in a file.",
  ],
  [
    "two-locators",
    "An element has two locators",
    "The service creates selectors from `locatorLine`.",
    "Keep `locatorLine` or `selectors`.",
  ],
  [
    "unknown-environment",
    "Unknown environment",
    "A batch generation names an environment that its target does not declare in this stage.",
    "Correct the key, or declare the environment.",
  ],
  [
    "unknown-key",
    "Unknown key",
    "The key is misspelt or in the wrong place. Keys that begin with `x-` are ignored.",
    "Use the key that the message suggests.",
  ],
  [
    "unknown-prerequisite",
    "Unknown prerequisite",
    "A test case names another one that its target does not declare in this stage.",
    "Correct the key, or write `{ description: … }`.",
  ],
  [
    "unknown-stage",
    "Unknown stage",
    "Overrides, `onlyStages`, `--stage` and TASC_STAGE name stages of tasc.yaml.",
    "Correct the name, or add the stage.",
  ],
  [
    "unknown-var",
    "Unknown variable",
    "`${var:name}` names an entry of `vars` of the project or the stage.",
    "Correct the name, or add the variable.",
  ],
  [
    "unreadable",
    "A manifest cannot be read",
    "The file is missing or may not be read.",
    "Check its permissions.",
  ],
  [
    "unreadable-file",
    "A file of ${file:} cannot be used",
    "It must be a text file inside the project, no link, and not in `.git`, `.tasc` or `.env*`.",
    "Name another file.",
  ],
  [
    "untrusted",
    "The trust file does not allow this",
    "The file of `--trust` or TASC_TRUST limits service origins, state hosts and variables.",
    "Change the manifest, or the trust file on its protected branch.",
  ],
  [
    "var-cycle",
    "Circular variables",
    "Each of the variables takes its value from the next.",
    "Give one of them a value.",
  ],
  [
    "var-depth",
    "Variables are nested too deep",
    "Variables may refer to one another up to 100 deep.",
    "Write a value.",
  ],
  [
    "weak-fingerprint-key",
    "The fingerprint key is too short",
    "With a short key, guesses at passwords can be tested against the fingerprints in state.",
    "Use 16 random characters or more.",
  ],
  ["wrong-type", "A manifest is not a map", "A document has keys such as `target`.", "Correct the document."],
  [
    "yaml",
    "Invalid or unsupported YAML",
    "Manifests are YAML 1.2 without directives, tags, merge keys and duplicate keys. The rest of the code says which rule is broken, e.g. `yaml-tab`.",
    "Follow the hint of the message.",
  ],
];

export const ERROR_CODES: ReadonlyMap<string, ErrorCode> = new Map(
  ROWS.map(([code, title, explanation, remedy]) => [code, { title, explanation, remedy }]),
);

/** The entry of a code; all codes of the YAML reader share one. */
export function errorCode(code: string): ErrorCode | undefined {
  return ERROR_CODES.get(code.startsWith("yaml-") ? "yaml" : code);
}
