/**
 * The part of node:sqlite that the store uses, and that libsql has, too. The types of Node 20 do
 * not contain it.
 */
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
