/** The types of Node 20 do not have it; this is the part that the store uses. */
declare module "node:sqlite" {
  export class DatabaseSync {
    constructor(file: string);
    exec(sql: string): void;
    prepare(sql: string): {
      run(...values: (string | number)[]): unknown;
      get(...values: (string | number)[]): unknown;
      all(...values: (string | number)[]): unknown[];
    };
    close(): void;
  }
}
