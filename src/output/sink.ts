/** A stream to write to, until its reader goes. */
export interface Sink {
  write(text: string): void;
  /** When all that was written has been handed on, or cannot be any more. @throws what the stream failed with. */
  flush(): Promise<void>;
}

export function openSink(stream: NodeJS.WritableStream): Sink {
  let failure: Error | undefined;
  let last: Promise<void> = Promise.resolve();
  stream.on("error", (error: Error) => {
    failure ??= error;
  });
  return {
    write(text) {
      if (failure !== undefined || text === "") return;
      last = new Promise((resolve) => {
        stream.write(text, () => resolve());
      });
    },
    async flush() {
      await last;
      if (failure !== undefined && !readerHasGone(failure)) throw failure;
    },
  };
}

function readerHasGone(error: Error): boolean {
  return "code" in error && (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED");
}
