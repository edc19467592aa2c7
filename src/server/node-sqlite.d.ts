/** The types of Node 20 do not have it; this is the part that the store uses, and that libsql has too. */
declare module "node:sqlite" {
  type Row = { readonly [column: string]: string | number } | undefined;
  export class DatabaseSync {
    constructor(file: string);
    exec(sql: string): void;
    prepare(sql: string): {
      run(...values: (string | number)[]): unknown;
      get(...values: (string | number)[]): Row;
      all(...values: (string | number)[]): NonNullable<Row>[];
    };
    close(): void;
  }
}

declare module "libsql" {
  export { DatabaseSync as default } from "node:sqlite";
}
