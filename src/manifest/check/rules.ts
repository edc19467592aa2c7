import { type Address, parseAddress } from "../../model/address.ts";
import {
  type DesiredResource,
  type DesiredTarget,
  type Move,
  originOf,
  resourcesOf,
} from "../../model/desired.ts";
import { TEST_CASE_FIELDS } from "../../model/fields.ts";
import { compileGlob } from "../../model/glob.ts";
import { type Json, type Path, isArray, isObject } from "../../model/json.ts";
import { type Value, isValueObject } from "../../model/value.ts";
import { type Document } from "../document.ts";
import {
  type ManifestProblem,
  didYouMean,
  shortened,
  listWords,
  manifestProblem,
  nearest,
} from "../problem.ts";
import { type TemplateFault, circlesIn, isTemplate } from "../interpolation.ts";
import { stagesInWords } from "../settings.ts";
import { isHidden, partsAlong } from "../shape.ts";
import { SECTIONS } from "../tables.ts";
import {
  type DocumentLayer,
  type DocumentSubject,
  type DocumentReference,
  type TargetRule,
  type TargetSubject,
  documentLayers,
  errorAbout,
  subjectOf,
} from "./subject.ts";

/** A guess looks at every key; where hundreds of references dangle, it is not a typing error that is to blame. */
const MOST_GUESSES = 100;

/** A prerequisite that is given by key is declared in the same target. */
function prerequisitesExist({ target, references }: TargetSubject): readonly ManifestProblem[] {
  const keys = target.testCases.map(({ key }) => key);
  const found = dangling(references, "testCase", keys);
  const candidates = found.length > MOST_GUESSES ? [] : keys;
  return found.flatMap(({ from, path, key }) =>
    errorAbout(
      from,
      path,
      "unknown-prerequisite",
      `There is no test case \`${key}\` in target ${target.key}`,
      `\`${path.join(".")}\` must be a key of the same target. For a test case that is not managed here, write \`{ description: … }\`.${didYouMean(nearest(key, candidates))}`,
    ),
  );
}

const RECOGNIZING = TEST_CASE_FIELDS.filter(({ recognizedBy }) => recognizedBy !== undefined);

/**
 * An override of a test case that nothing declares is most likely what a rename left behind. A test case of one stage
 * alone says at least what it is called or what it checks.
 */
function overridesHaveATestCase({ target }: TargetSubject): readonly ManifestProblem[] {
  const stubs = target.testCases.filter(
    ({ id, fields, layers }) =>
      id === undefined &&
      !layers.some(({ kind }) => kind === "base") &&
      RECOGNIZING.every(({ name }) => fields[name] === undefined),
  );
  const isStub = new Set(stubs);
  const declared =
    stubs.length > MOST_GUESSES
      ? []
      : target.testCases.filter((one) => !isStub.has(one)).map(({ key }) => key);
  return stubs.flatMap((stub) =>
    errorAbout(
      stub,
      [],
      "override-without-base",
      `This override has no test case \`${stub.key}\` to override`,
      `No document declares it outside \`stages\`. Correct the key, or remove the override.${didYouMean(nearest(stub.key, declared))}`,
    ),
  );
}

/** The environment of a batch generation is declared in the same target. */
function environmentsExist({ target, references }: TargetSubject): readonly ManifestProblem[] {
  const keys = target.environments.map(({ key }) => key);
  const known = keys.length === 0 ? "It declares none." : `It has ${listWords(keys, "and")}.`;
  return dangling(references, "environment", keys).flatMap(({ from, path, key }) =>
    errorAbout(
      from,
      path,
      "unknown-environment",
      `There is no environment \`${key}\` in target ${target.key}`,
      `\`${path.join(".")}\` must be a key under the target's \`environments\`. ${known}${didYouMean(nearest(key, keys))}`,
    ),
  );
}

/** References by key that none of the keys answers. */
function dangling(
  references: readonly DocumentReference[],
  to: DocumentReference["to"],
  keys: readonly string[],
): readonly (DocumentReference & { readonly key: string })[] {
  const asked = references.filter((reference) => reference.to === to);
  if (asked.length === 0) return [];
  const known = new Set(keys);
  return asked.flatMap((reference) => {
    const { value: key } = reference;
    return typeof key === "string" && !known.has(key) ? [{ ...reference, key }] : [];
  });
}

/** `{ description: … }` is for test cases that nothing here manages; those that are managed have a key. */
function foreignPrerequisitesAreForeign({ target, references }: TargetSubject): readonly ManifestProblem[] {
  const foreign = references.filter(({ value }) => isValueObject(value));
  if (foreign.length === 0) return [];
  const managed = new Map<Value | undefined, string>(
    target.testCases.map(({ key, fields }) => [fields.description, key]),
  );
  return foreign.flatMap(({ from, path, value }) => {
    const name = isValueObject(value) ? value.description : undefined;
    const key = typeof name === "string" ? managed.get(name) : undefined;
    if (key === undefined) return [];
    return errorAbout(
      from,
      path,
      "managed-prerequisite",
      `The prerequisite is managed here as \`${key}\``,
      `\`{ description: … }\` is for test cases that nothing here manages. Write \`${path.join(".")}: ${key}\`.`,
    );
  });
}

/** No test case waits for itself, by however many others. */
function prerequisitesDoNotCircle({ references }: TargetSubject): readonly ManifestProblem[] {
  const waiting = new Map<string, DocumentReference>();
  const next = new Map<string, string>();
  for (const reference of references) {
    const { from, value } = reference;
    if (from.kind !== "testCase" || typeof value !== "string") continue;
    waiting.set(from.key, reference);
    next.set(from.key, value);
  }
  return circlesIn(next).flatMap((circle) => {
    const reference = waiting.get(circle[0] ?? "");
    return reference === undefined ? [] : circleOfPrerequisites(reference, circle);
  });
}

function circleOfPrerequisites(
  { from, path }: DocumentReference,
  circle: readonly string[],
): ManifestProblem[] {
  return errorAbout(
    from,
    path,
    "prerequisite-cycle",
    "Circular prerequisites",
    `Each of these runs after the next: ${circle.join(" → ")}. Remove one of them.`,
  );
}

/** `Default` would be an additional environment; hardly anyone means that. */
function defaultEnvironmentIsSpeltRight({ target }: TargetSubject): readonly ManifestProblem[] {
  return target.environments
    .filter(({ key }) => key !== "default" && key.toLowerCase() === "default")
    .flatMap((environment) =>
      errorAbout(
        environment,
        [],
        "misspelt-default",
        `\`${environment.key}\` is not the service's DEFAULT environment`,
        "The DEFAULT environment has the key `default`. Choose a different key for an additional environment.",
        { at: "key" },
      ),
    );
}

type MoveRule = (target: DesiredTarget) => readonly ManifestProblem[];

const MOVE_RULES: readonly MoveRule[] = [
  movesStayInTheTarget,
  movesKeepTheKind,
  movesBeginOnce,
  movesEndOnce,
  movesDoNotCircle,
  movedIsNotDeclared,
];

/** The `moved:` entries of a target. */
function movesMakeSense({ target }: TargetSubject): readonly ManifestProblem[] {
  return target.moved.length === 0 ? [] : MOVE_RULES.flatMap((rule) => rule(target));
}

function movesStayInTheTarget({ key, moved }: DesiredTarget): readonly ManifestProblem[] {
  return moved.flatMap((move) =>
    [move.from, move.to]
      .filter((address) => parseAddress(address)?.target !== key)
      .map((address) =>
        about(
          move,
          "move-elsewhere",
          `${address} does not belong to target ${key}`,
          "`moved` renames within one target. Between targets, or for a target itself, run `tasc state mv FROM TO`.",
          address === move.from ? "from" : "to",
        ),
      ),
  );
}

function movesKeepTheKind({ moved }: DesiredTarget): readonly ManifestProblem[] {
  return moved
    .filter(({ from, to }) => parseAddress(from)?.kind !== parseAddress(to)?.kind)
    .map((move) =>
      about(
        move,
        "move-kind",
        `${move.from} cannot become ${move.to}`,
        "They are different kinds of resource.",
        "to",
      ),
    );
}

function movesBeginOnce({ moved }: DesiredTarget): readonly ManifestProblem[] {
  return repeated(moved, ({ from }) => from).map(([move, first]) =>
    about(
      move,
      "move-twice",
      `${move.from} is moved twice`,
      `It cannot become both ${first.to} and ${move.to}.`,
      "from",
      first,
    ),
  );
}

function movesEndOnce({ moved }: DesiredTarget): readonly ManifestProblem[] {
  return repeated(moved, ({ to }) => to).map(([move, first]) =>
    about(
      move,
      "move-twice",
      `Two addresses are moved to ${move.to}`,
      `${first.from} and ${move.from} cannot both become it.`,
      "to",
      first,
    ),
  );
}

/** Moves that have a key of an earlier one, each with that. */
function repeated(
  moved: readonly Move[],
  keyOf: (move: Move) => Address,
): readonly (readonly [Move, Move])[] {
  const firsts = new Map<Address, Move>();
  return moved.flatMap((move): [Move, Move][] => {
    const first = firsts.get(keyOf(move));
    if (first !== undefined) return [[move, first]];
    firsts.set(keyOf(move), move);
    return [];
  });
}

function movesDoNotCircle({ moved }: DesiredTarget): readonly ManifestProblem[] {
  const next = new Map(moved.map(({ from, to }) => [from, to]));
  return circlesIn(next).flatMap((circle) => {
    const move = moved.find(({ from }) => from === circle[0]);
    if (move === undefined) return [];
    const detail = `Each of these is moved to the next: ${circle.join(" → ")}. Remove one of them.`;
    return [about(move, "move-cycle", "Circular moves", detail, "from")];
  });
}

function movedIsNotDeclared(target: DesiredTarget): readonly ManifestProblem[] {
  const declared = new Set(resourcesOf(target).map(({ address }) => address));
  return target.moved
    .filter(({ from, to }) => from !== to && declared.has(from))
    .map((move) =>
      about(
        move,
        "move-of-declared",
        `${move.from} is still declared`,
        `\`moved\` says that it is now ${move.to}. Remove its declaration, or the move.`,
        "from",
      ),
    );
}

function about(
  { origin }: Move,
  code: string,
  summary: string,
  detail: string,
  side: "from" | "to",
  related?: Move,
): ManifestProblem {
  return manifestProblem(
    code,
    { ...origin, path: [...origin.path, side] },
    summary,
    detail,
    related === undefined ? {} : { related: related.origin },
  );
}

/** No two addresses are bound to one id by hand. */
function idsAreUnique(targets: readonly DesiredTarget[]): readonly ManifestProblem[] {
  const owners = new Map<string, DesiredResource>();
  const problems: ManifestProblem[] = [];
  for (const resource of targets.flatMap(resourcesOf).filter(isBoundByHand)) {
    const owner = owners.get(resource.id.toLowerCase());
    if (owner === undefined) owners.set(resource.id.toLowerCase(), resource);
    else problems.push(...idTakenTwice(resource, resource.id, owner));
  }
  return problems;
}

function isBoundByHand(resource: DesiredResource): resource is DesiredResource & { readonly id: string } {
  return resource.id !== undefined;
}

/** What finds a resource again when state is lost should find one. */
function matchesAreUnique({ target }: TargetSubject): readonly ManifestProblem[] {
  return [
    ...sharedValues(target.testCases, "externalId", "duplicate-external-id"),
    ...sharedValues(
      target.testCases.filter(({ fields }) => fields.externalId === undefined),
      "description",
      "duplicate-description",
    ),
  ];
}

/** Warnings about resources of one kind with the same value of a field by which live ones are found. */
function sharedValues(
  resources: readonly DesiredResource[],
  field: string,
  code: string,
): readonly ManifestProblem[] {
  const owners = new Map<string, DesiredResource>();
  const problems: ManifestProblem[] = [];
  for (const resource of resources) {
    const value = resource.fields[field];
    // One that is bound by hand is not looked for.
    if (typeof value !== "string" || resource.id !== undefined) continue;
    const owner = owners.get(value);
    if (owner === undefined) owners.set(value, resource);
    else problems.push(...shared(resource, owner, field, value, code));
  }
  return problems;
}

function shared(
  resource: DesiredResource,
  owner: DesiredResource,
  field: string,
  value: string,
  code: string,
): ManifestProblem[] {
  const [origin, related] = [originOf(resource, [field]), originOf(owner, [field])];
  if (origin === undefined) return [];
  const noun = resource.kind === "target" ? "test target" : "test case";
  return [
    manifestProblem(
      code,
      origin,
      `${owner.address} has the same \`${field}\``,
      `A live ${noun} with \`${value}\` would match both. Change or remove one of them.`,
      { severity: "warning", address: resource.address, ...(related === undefined ? {} : { related }) },
    ),
  ];
}

function idTakenTwice(resource: DesiredResource, id: string, owner: DesiredResource): ManifestProblem[] {
  const related = originOf(owner, ["id"]);
  return errorAbout(
    resource,
    ["id"],
    "duplicate-id",
    `${owner.address} has the same \`id\``,
    `\`${id}\` can only be bound to one address. Correct or remove one of the two.`,
    related === undefined ? {} : { related },
  );
}

/** What must hold whatever else is wrong. */
const RULES: readonly TargetRule[] = [
  foreignPrerequisitesAreForeign,
  prerequisitesDoNotCircle,
  defaultEnvironmentIsSpeltRight,
  movesMakeSense,
  matchesAreUnique,
];

/** What can be said only when every resource could be read. */
const RULES_OF_WHOLES: readonly TargetRule[] = [
  prerequisitesExist,
  environmentsExist,
  overridesHaveATestCase,
];

/** Checks resolved targets, each by itself and all together. */
export function checkTargets(
  targets: readonly DesiredTarget[],
  complete: boolean,
): readonly ManifestProblem[] {
  const rules = complete ? [...RULES, ...RULES_OF_WHOLES] : RULES;
  const own = targets.flatMap((target) => {
    const subject = subjectOf(target);
    return rules.flatMap((rule) => rule(subject));
  });
  return [...own, ...idsAreUnique(targets), ...sharedValues(targets, "app", "duplicate-app")];
}

/** An element is found by `locatorLine` or by `selectors`, not by both. */
export function elementsHaveOneLocator({ document }: DocumentSubject): readonly ManifestProblem[] {
  const { file, text } = document;
  // Most documents have no locator line, and show it at a glance, unless an escape in double quotes makes the word.
  if (!text.includes("locatorLine") && !text.includes("\\")) return [];
  const problems: ManifestProblem[] = [];
  for (const layer of documentLayers(document))
    for (const { path, elements } of elementLists(layer))
      for (const [at, element] of elements.entries())
        if (hasTwoLocators(element)) problems.push(twoLocators(file, [...path, at]));
  return problems;
}

function hasTwoLocators(element: Json): boolean {
  return isObject(element) && element.locatorLine !== undefined && element.selectors !== undefined;
}

function twoLocators(file: string, path: Path): ManifestProblem {
  return manifestProblem(
    "two-locators",
    { file, path: [...path, "locatorLine"] },
    "An element has both `locatorLine` and `selectors`",
    "The service creates selectors from the locator line, so one of them would be lost. Keep one.",
    { at: "key" },
  );
}

interface ElementList {
  readonly path: Path;
  readonly elements: readonly Json[];
}

/** The lists of elements in a layer: of its test cases, and of their defaults. Few layers have any. */
function elementLists({ path, value: { testCases, defaults } }: DocumentLayer): readonly ElementList[] {
  const found: ElementList[] = [];
  const look = (holder: Json | undefined, section: string, key: string): void => {
    if (isObject(holder) && isArray(holder.elements))
      found.push({ path: [...path, section, key, "elements"], elements: holder.elements });
  };
  if (isObject(testCases)) for (const key of Object.keys(testCases)) look(testCases[key], "testCases", key);
  if (isObject(defaults)) look(defaults.testCases, "defaults", "testCases");
  return found;
}

/** Every key under `stages`, and every entry of `onlyStages`, is a stage of the project. */
export function stagesAreKnown({ document, stages }: DocumentSubject): readonly ManifestProblem[] {
  const { file, text, root, value } = document;
  if (stages === undefined) return [];
  const unknown = (path: Path, stage: string, at?: "key"): ManifestProblem =>
    manifestProblem(
      "unknown-stage",
      { file, path },
      `There is no stage \`${stage}\``,
      `${stagesInWords(stages)}${didYouMean(nearest(stage, stages))}`,
      at === undefined ? {} : { at },
    );
  const overrides = Object.keys(isObject(value.stages) ? value.stages : {});
  const strange = overrides.filter((stage) => !stages.includes(stage));
  return [
    ...strange.map((stage) => unknown([...root, "stages", stage], stage, "key")),
    ...(text.includes("onlyStages") || text.includes("\\") ? onlyStagesIn(document) : []).flatMap(
      ({ path, names }) =>
        names.flatMap((name, at) =>
          typeof name === "string" && !stages.includes(name) ? [unknown([...path, at], name)] : [],
        ),
    ),
  ];
}

/** Every `onlyStages` of a document: of its target, and of the resources in it. */
function onlyStagesIn(
  document: Document,
): readonly { readonly path: Path; readonly names: readonly Json[] }[] {
  return documentLayers(document).flatMap((layer) => {
    const resources = SECTIONS.flatMap(({ name }) => {
      const section = layer.value[name];
      return Object.entries(isObject(section) ? section : {}).map(
        ([key, value]) => [[...layer.path, name, key], value] as const,
      );
    });
    return [[layer.path, layer.value] as const, ...resources].flatMap(([path, value]) => {
      const names = isObject(value) ? value.onlyStages : undefined;
      return isArray(names) ? [{ path: [...path, "onlyStages"], names }] : [];
    });
  });
}

/** Every `${…}` is an interpolation that tasc knows, also in stages that are not chosen. */
export function placeholdersAreKnown({
  document,
  root,
  templates,
}: DocumentSubject): readonly ManifestProblem[] {
  return templates.flatMap(({ path, template }) =>
    template.faults.map((fault) =>
      badPlaceholder(
        document.file,
        [...document.root, ...path],
        fault,
        partsAlong(root, path).some(isHidden),
      ),
    ),
  );
}

/** A name of which everyone would say that its value is a secret. */
const CREDENTIAL =
  /(?:^|_)(?:KEYS?|TOKENS?|(?:PG)?PASS|PASSWD|PWD|CREDS?|CREDENTIALS?|AUTH|PAT|OTP)(?:_|$)|API_?KEY|PASSW|PASSPHRASE|SECRET/i;

/** What `${env:…}` brings in shows in every plan, so it may not name what looks like a credential. */
export function credentialsAreSecrets({ document, templates }: DocumentSubject): readonly ManifestProblem[] {
  return templates.flatMap(({ path, template }) =>
    template.parts.flatMap((part) =>
      part.kind === "env" && CREDENTIAL.test(part.name)
        ? [
            manifestProblem(
              "credential-in-env",
              { file: document.file, path: [...document.root, ...path] },
              `\`${part.name}\` looks like a credential`,
              `\`\${env:…}\` shows its value in plans and messages. Write \`\${secret:${part.name}}\`, or give the variable another name if it is not secret.`,
              { within: part.source },
            ),
          ]
        : [],
    ),
  );
}

/** The globs of a policy mean something, in stages that are not chosen too. */
export function protectedGlobsAreGlobs({ document }: DocumentSubject): readonly ManifestProblem[] {
  return documentLayers(document).flatMap(({ path, value }) => {
    const globs = isObject(value.policy) ? value.policy.protected : undefined;
    return (isArray(globs) ? globs : []).flatMap((source, at) => {
      if (typeof source !== "string" || isTemplate(source)) return [];
      const glob = compileGlob(source);
      if (!("fault" in glob)) return [];
      const origin = { file: document.file, path: [...path, "policy", "protected", at] };
      return [
        manifestProblem("bad-glob", origin, "The glob cannot be used", `\`${source}\`: ${glob.fault}.`),
      ];
    });
  });
}

/** Where the value is to be hidden, so is what was meant as a placeholder: it may be the password itself. */
function badPlaceholder(file: string, path: Path, fault: TemplateFault, hidden: boolean): ManifestProblem {
  return manifestProblem(
    "bad-placeholder",
    { file, path },
    `\`${hidden ? "${…}" : shortened(fault.source)}\` is not an interpolation`,
    fault.reason,
    { within: fault.source },
  );
}
