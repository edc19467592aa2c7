import "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** What not every machine has. Tests that are skipped without it are listed with it at the end. */
    readonly needs?: string;
  }
}
