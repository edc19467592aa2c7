/** A validator as ajv makes it. It leaves its findings on itself, until it is called again. */
export interface Validate {
  (value: unknown): boolean;
  errors?: readonly SchemaFinding[] | null;
}

/** One keyword of a schema that a value does not satisfy. */
export interface SchemaFinding {
  /** JSON pointer to the value. */
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}
