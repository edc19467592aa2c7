import {
  type ProgressEvent,
  advance,
  beginStatus,
  eventLine,
  isOfCalls,
  statusLines,
} from "../render/apply.ts";
import type { Style } from "../render/style.ts";
import { clockText } from "../render/words.ts";
import type { Writer } from "./writer.ts";

/** Shows an apply while it runs. */
export interface Progress {
  readonly event: (event: ProgressEvent) => void;
  /** Time has passed; called a few times a second where the display is live. */
  readonly tick: () => void;
  /** Takes a status area away. */
  readonly end: () => void;
}

export interface ProgressOptions {
  readonly writer: Writer;
  readonly style: Style;
  /** Whether lines may be drawn over (`Terminal.live` of standard error). */
  readonly live: boolean;
  /** Milliseconds from any beginning. */
  readonly now: () => number;
}

/** One status area on a terminal, plain lines with the time elsewhere. */
export function createProgress(options: ProgressOptions): Progress {
  return options.live ? liveProgress(options) : plainProgress(options);
}

function plainProgress({ writer, now }: ProgressOptions): Progress {
  const startedAt = now();
  let last: string | undefined;
  return {
    event(event) {
      const line = eventLine(event);
      if (line === undefined || line === last) return;
      last = line;
      writer.note(`[${clockText(now() - startedAt)}] ${line}\n`);
    },
    tick() {},
    end() {},
  };
}

/** What must not scroll past unseen stays above the area; the rest is a number in it. */
function isLasting(event: ProgressEvent): boolean {
  return !isOfCalls(event) && (event.type === "changeFailed" || event.type === "stopping");
}

function liveProgress({ writer, style, now }: ProgressOptions): Progress {
  let status = beginStatus(now());
  const draw = (): void => writer.status(statusLines(status, now(), style));
  return {
    event(event) {
      status = advance(status, event, now());
      const line = isLasting(event) ? eventLine(event) : undefined;
      if (line !== undefined) writer.note(`${line}\n`);
      draw();
    },
    tick: draw,
    end: () => writer.status([]),
  };
}
