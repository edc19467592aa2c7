import { type IncomingMessage, createServer } from "node:http";

export interface Comment {
  readonly id: number;
  readonly body: string;
  readonly user: { readonly type: string; readonly login: string };
}

/** A minimal host that keeps the comments of a pull request. */
export interface Host {
  readonly url: string;
  readonly comments: Comment[];
  /** The requests that made or continued a check run, with their bodies. */
  readonly checks: readonly string[];
  /** The write requests, as `POST /repos/…`. */
  readonly writes: readonly string[];
  close(): Promise<void>;
}

export interface HostOptions {
  readonly comments?: readonly Comment[];
  /** Files of the repository's default branch. */
  readonly files?: Readonly<Record<string, string>>;
  /** The answers for other paths. */
  readonly answers?: Readonly<Record<string, unknown>>;
  /** Whether the token may create check runs. */
  readonly mayCheck?: boolean;
  /** A status with which the host refuses every write. */
  readonly refuse?: number;
}

const BOT = { type: "Bot", login: "github-actions[bot]" };

export async function startHost({
  comments: before = [],
  files = {},
  answers = {},
  mayCheck = false,
  refuse,
}: HostOptions = {}): Promise<Host> {
  const comments = [...before];
  const writes: string[] = [];
  const checks: string[] = [];
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const body = bodyIn(text);
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://host");
      const answer = (status: number, json: unknown): void => {
        response
          .writeHead(status, { "content-type": "application/json" })
          .end(JSON.stringify(json));
      };
      if (request.method === "GET" && pathname === "/repos/acme/shop/issues/7/comments") {
        const size = Number(searchParams.get("per_page"));
        const from = (Number(searchParams.get("page")) - 1) * size;
        return answer(200, comments.slice(from, from + size));
      }
      const [, path] = /^\/repos\/acme\/shop\/contents\/(.+)$/.exec(pathname) ?? [];
      if (request.method === "GET" && path !== undefined) {
        // Without `ref`, the answer is from the default branch.
        const file = searchParams.get("ref") === null ? files[decodeURIComponent(path)] : undefined;
        if (file === undefined) return answer(404, { message: "Not Found" });
        response.end(file);
        return undefined;
      }
      if (answers[pathname] !== undefined) return answer(200, answers[pathname]);
      // A workflow's own token has no user.
      if (request.method === "GET")
        return answer(403, { message: "Resource not accessible by integration" });
      if (pathname.startsWith("/repos/acme/shop/check-runs")) {
        if (!mayCheck) return answer(403, { message: "Resource not accessible by integration" });
        checks.push(`${request.method} ${pathname.slice(16)} ${text}`);
        return answer(201, { id: 77 });
      }
      writes.push(`${request.method} ${pathname}`);
      if (refuse !== undefined)
        return answer(refuse, { message: "Resource not accessible by integration" });
      const id = Number(/\/issues\/comments\/(\d+)$/.exec(pathname)?.[1] ?? 1000 + comments.length);
      const comment = { id, body, user: BOT };
      const at = comments.findIndex((one) => one.id === id);
      if (at === -1) comments.push(comment);
      else comments[at] = comment;
      return answer(200, comment);
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    comments,
    checks,
    writes,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text;
}

function bodyIn(text: string): string {
  if (text === "") return "";
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null && "body" in parsed
    ? String(parsed.body)
    : "";
}
