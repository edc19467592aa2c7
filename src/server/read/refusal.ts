/**
 * The service says no. The one exception of the server that is an answer rather than a defect: whoever finds a
 * request wrong throws it, and the exchange turns it into an error answer.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  /** The field at fault, as a path inside the body: `elements[0].interaction.action`. */
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    more: { field?: string; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.field = more.field;
    this.headers = more.headers ?? {};
  }
}

/** A value that is not as the text describes it; `at` is its place in the body, empty for the body itself. */
export function badValue(at: string, must: string): Refusal {
  return at === "" ? new Refusal(400, `the body ${must}`) : new Refusal(400, `${at} ${must}`, { field: at });
}

export function notFound(what: string): Refusal {
  return new Refusal(404, `no such ${what}`);
}
