import { notFound, Refusal } from "../read/refusal.ts";
import { isUuid } from "../read/values.ts";

/** One row of a table of operations; `{name}` in a path stands for a uuid. */
export type Route<Run> = { readonly method: string; readonly path: string; readonly run: Run };

export type Found<Run> = { readonly route: Route<Run>; readonly id: (name: string) => string };

/** Finds the row for a request: unknown paths are 404, methods no row has 405 with Allow, ids no uuid 400. */
export function findRoute<Run>(routes: readonly Route<Run>[], method: string, path: string): Found<Run> {
  const atPath = routes.filter((route) => matches(route.path, path));
  if (atPath.length === 0) throw notFound("path");
  const route = atPath.find((each) => each.method === method);
  if (route === undefined) throw methodNotAllowed(method, atPath);
  const ids = idsIn(route.path, path);
  return { route, id: (name) => idNamed(ids, name) };
}

function methodNotAllowed<Run>(method: string, atPath: readonly Route<Run>[]): Refusal {
  const allow = atPath.map((route) => route.method).join(", ");
  return new Refusal(405, `${method} is not allowed here`, { headers: { allow } });
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split("/");
  const given = path.split("/");
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => (isParameter(part) ? given[at] !== "" : part === given[at]))
  );
}

function idsIn(pattern: string, path: string): ReadonlyMap<string, string> {
  const given = path.split("/");
  const ids = new Map<string, string>();
  for (const [at, part] of pattern.split("/").entries()) {
    const value = given[at] ?? "";
    if (!isParameter(part)) continue;
    const name = part.slice(1, -1);
    if (!isUuid(value)) throw new Refusal(400, `${name} in the path must be a UUID`, { field: name });
    ids.set(name, value.toLowerCase());
  }
  return ids;
}

function isParameter(part: string): boolean {
  return part.startsWith("{");
}

function idNamed(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`the path has no ${name}`);
  return id;
}
