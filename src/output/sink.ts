/** A stream to write to, until its reader goes. */
export interface Sink {
  write(text: string): void;
}

/** @param failed is told what keeps the stream from being written to, other than that nobody reads it any more */
export function openSink(stream: NodeJS.WritableStream, failed: (error: Error) => void): Sink {
  let broken = false;
  stream.on("error", (error: Error) => {
    if (!broken && !readerHasGone(error)) failed(error);
    broken = true;
  });
  return {
    write(text) {
      if (!broken && text !== "") stream.write(text);
    },
  };
}

function readerHasGone(error: Error): boolean {
  return "code" in error && (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED");
}
