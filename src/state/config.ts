import type { Secret } from "../model/value.ts";

/** What a backend needs to know, complete; `readConfig` makes it of what the project says. */
export type BackendConfig = LocalConfig | PostgresConfig | HttpConfig;

export interface LocalConfig {
  readonly backend: "local";
  /** Folder of the documents; relative to the project's. */
  readonly path: string;
}

export interface PostgresConfig {
  readonly backend: "postgres";
  /** `postgres://user:password@host:port/database?sslmode=…` */
  readonly url: Secret;
  readonly schema: string;
  /** Of the documents; the journal's and the locks' are named after it. */
  readonly table: string;
}

export interface HttpConfig {
  readonly backend: "http";
  /** With `{target}`, and maybe `{stage}`, in it; see `http/address.ts`. */
  readonly address: string;
  /** Absent: the server knows no locks. */
  readonly locking: HttpLocking | undefined;
  readonly updateMethod: string;
  readonly username: string | undefined;
  readonly password: Secret | undefined;
}

export interface HttpLocking {
  readonly lockAddress: string;
  readonly lockMethod: string;
  readonly unlockAddress: string;
  readonly unlockMethod: string;
}
