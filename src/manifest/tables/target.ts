import type { ManifestPart, MapShape, ObjectShape, Parts } from "../shape/shape.ts";
import { SECTIONS, TARGET_ROWS } from "./kinds.ts";
import type { FieldRow, Section } from "./kinds.ts";
import { ON_REMOVE_PART } from "./project.ts";

/** Target documents as a whole, made from the field table. */

/** The parts of objects that group rows with dotted names, `discovery.prompt` for example. */
const GROUPS: ReadonlyMap<string, string> = new Map([
  ["discovery", "How the service generates the test case."],
]);

function partsOf(rows: readonly FieldRow[]): Parts {
  const keys = new Set(rows.map(({ path }) => String(path[0])));
  return Object.fromEntries([...keys].map((key) => [key, rowPart(rows, key)]));
}

/** A row as it is, or the rows that share the first step of their path as an object. */
function rowPart(rows: readonly FieldRow[], key: string): ManifestPart {
  const own = rows.filter(({ path }) => path[0] === key);
  const single = own.find(({ path }) => path.length === 1);
  if (single !== undefined) return single;
  const inner = own.map((row) => ({ ...row, path: row.path.slice(1) }));
  return {
    shape: { type: "object", parts: partsOf(inner) },
    description: GROUPS.get(key) ?? `Fields of ${key}.`,
  };
}

function idPart(noun: string): ManifestPart {
  return {
    shape: { type: "uuid" },
    description: `The service's id of the ${noun}: binds this address by hand.`,
  };
}

/** A section with all that a document may say of its resources. */
interface SectionTable {
  readonly section: Section;
  readonly fields: Parts;
  readonly resource: ObjectShape;
  readonly resources: ManifestPart;
  readonly defaults: ManifestPart;
}

const TABLES: readonly SectionTable[] = SECTIONS.map((section) => {
  const fields = partsOf(section.fields);
  const resource: ObjectShape = {
    type: "object",
    description: section.itemDescription,
    parts: { id: idPart(section.noun), ...fields },
  };
  return {
    section,
    fields,
    resource,
    resources: { shape: { type: "map", of: resource, keys: "logical" }, description: section.description },
    // An id is each resource's own.
    defaults: {
      shape: { type: "object", parts: fields },
      description: `Values for every ${section.noun} that does not set them itself.`,
    },
  };
});

const TARGET_PARTS: Parts = { id: idPart("test target"), ...partsOf(TARGET_ROWS), onRemove: ON_REMOVE_PART };

const DEFAULTS: ManifestPart = {
  shape: {
    type: "object",
    parts: Object.fromEntries(TABLES.map(({ section, defaults }) => [section.name, defaults])),
  },
  description: "Values for all resources of a kind, for all documents of the target.",
};

/** What a document declares and each stage may override. */
const OVERRIDABLE: ObjectShape = {
  type: "object",
  description: "What differs in one stage. It may also add what exists in that stage alone.",
  parts: {
    ...TARGET_PARTS,
    ...Object.fromEntries(TABLES.map(({ section, resources }) => [section.name, resources])),
    defaults: DEFAULTS,
  },
};

const STAGES: MapShape = { type: "map", of: OVERRIDABLE, keys: "logical" };

const MOVE: ObjectShape = {
  type: "object",
  description: "A renamed address.",
  parts: {
    from: { shape: { type: "address" }, literal: true, description: "The address as it was." },
    to: { shape: { type: "address" }, literal: true, description: "The address as it is now." },
  },
  required: ["from", "to"],
};

export const TARGET_DOCUMENT: ObjectShape = {
  type: "object",
  description: "A test target and what belongs to it. Several documents may add to one target.",
  parts: {
    target: {
      shape: { type: "key" },
      literal: true,
      description: "Logical key of the target: letters, digits, `_` and `-`.",
    },
    ...OVERRIDABLE.parts,
    stages: {
      shape: STAGES,
      description: "Overrides by stage: maps merge key by key, texts, numbers and lists replace.",
    },
    moved: {
      shape: { type: "list", of: MOVE },
      description: "Addresses that were renamed. What is bound to the old one then belongs to the new one.",
    },
  },
  required: ["target"],
};

/** What is defined once and referred to by name: for documents, overrides and defaults alike. */
export const TARGET_DEFINITIONS: ReadonlyMap<ManifestPart | ObjectShape, string> = new Map<
  ManifestPart | ObjectShape,
  string
>([
  [OVERRIDABLE, "stage"],
  [DEFAULTS, "defaults"],
  [MOVE, "move"],
  ...named("target", TARGET_PARTS),
  ...TABLES.flatMap(({ section, fields, resource, resources }): [ManifestPart | ObjectShape, string][] => [
    [resources, section.name],
    [resource, section.kind],
    ...named(section.kind, fields),
  ]),
]);

function named(kind: string, parts: Parts): [ManifestPart, string][] {
  return Object.entries(parts).map(([key, part]) => [part, `${kind}.${key}`]);
}
