import { runInNewContext } from "node:vm";

/**
 * As much of a browser as the page's script asks for: elements, events and a form. Text is only ever text here, so
 * a script that wrote HTML would be seen at once, for there is no `innerHTML`.
 */
export class FakeElement {
  readonly tag: string;
  readonly attributes = new Map<string, string>();
  readonly listeners = new Map<string, (() => void)[]>();
  children: (FakeElement | string)[] = [];
  hidden = false;

  constructor(tag: string) {
    this.tag = tag;
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }

  append(...children: (FakeElement | string)[]): void {
    this.children.push(...children);
  }

  replaceChildren(): void {
    this.children = [];
  }

  get childElementCount(): number {
    return this.children.filter((child) => child instanceof FakeElement).length;
  }

  get textContent(): string {
    return this.children.map((child) => (typeof child === "string" ? child : child.textContent)).join("");
  }

  set textContent(text: string) {
    this.children = [text];
  }

  get open(): boolean {
    return this.attributes.has("open");
  }

  set open(open: boolean) {
    if (open) this.attributes.set("open", "");
    else this.attributes.delete("open");
    this.tell("toggle");
  }

  addEventListener(event: string, listener: () => void): void {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }

  tell(event: string): void {
    for (const listener of this.listeners.get(event) ?? []) listener();
  }

  querySelector(tag: string): FakeElement | undefined {
    return this.all().find((element) => element.tag === tag);
  }

  querySelectorAll(selector: string): readonly FakeElement[] {
    return this.all().filter((element) => `${element.tag}.${element.attributes.get("class")}` === selector);
  }

  all(): readonly FakeElement[] {
    return this.children.flatMap((child) => (typeof child === "string" ? [] : [child, ...child.all()]));
  }

  focus(): void {}
  scrollIntoView(): void {}
  reset(): void {}
}

export interface Page {
  readonly byId: (id: string) => FakeElement;
  readonly rows: () => readonly FakeElement[];
  /** Fills the form in and lets the script see it. */
  readonly filter: (values: Readonly<Record<string, readonly string[]>>) => void;
}

/** Runs a page's script over its data, at `#hash`. */
export function openPage(html: string, hash = ""): Page {
  const [, data = ""] = /id="plan">(.*?)<\/script>/s.exec(html) ?? [];
  const [, script = ""] = /<script>(.*?)<\/script>/s.exec(html) ?? [];
  const known = new Map(
    ["plan", "changes", "status", "more", "filter", "search", "unfold", "fold"].map((id) => [
      id,
      new FakeElement(id),
    ]),
  );
  const byId = (id: string): FakeElement | undefined =>
    known.get(id) ??
    known
      .get("changes")
      ?.all()
      .find((element) => element.attributes.get("id") === id);
  const found = (id: string): FakeElement => byId(id) ?? new FakeElement("missing");
  found("plan").textContent = data;
  let values: Readonly<Record<string, readonly string[]>> = {};
  runInNewContext(script, {
    document: {
      getElementById: (id: string) => byId(id) ?? null,
      createElement: (tag: string) => new FakeElement(tag),
      addEventListener: () => {},
    },
    location: { hash },
    addEventListener: () => {},
    setTimeout: (run: () => void) => run(),
    clearTimeout: () => {},
    FormData: class {
      get(name: string): string {
        return values[name]?.[0] ?? "";
      }
      getAll(name: string): readonly string[] {
        return values[name] ?? [];
      }
    },
  });
  return {
    byId: found,
    rows: () => found("changes").querySelectorAll("details.change"),
    filter: (next) => {
      values = next;
      found("filter").tell("input");
    },
  };
}
