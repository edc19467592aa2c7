// The annotations that `--format github` prints, for the log and for a check run.
import { relative, resolve } from "node:path";
import { projectFolder } from "./tasc.mjs";

const COMMAND = /^::(error|warning|notice) ([^:]*)::(.*)$/gm;

/**
 * Annotations name files relative to the project; the host needs paths relative to the repository's
 * root.
 */
export function atTheirPlaces(printed, env) {
  const folder = relative(resolve(env.GITHUB_WORKSPACE || "."), projectFolder(env));
  if (folder === "") return printed;
  const prefix = encodeURIComponent(`${folder.replaceAll("\\", "/")}/`).replaceAll("%2F", "/");
  return printed.replaceAll(/^::(?:error|warning|notice) file=/gm, (start) => start + prefix);
}

/** The annotations of a check run, in the order in which they were printed. */
export function annotationsIn(printed) {
  return [...printed.matchAll(COMMAND)].flatMap(([, word, properties, message]) => {
    const {
      file,
      line = "1",
      title,
    } = Object.fromEntries(
      properties.split(",").map((property) => {
        const at = property.indexOf("=");
        return [property.slice(0, at), decoded(property.slice(at + 1))];
      }),
    );
    if (file === undefined) return [];
    return [
      {
        path: file,
        start_line: Number(line),
        end_line: Number(line),
        annotation_level: word === "error" ? "failure" : word,
        title: title?.slice(0, 255),
        message: decoded(message),
      },
    ];
  });
}

/** The same lines as plain text, for a log whose annotations are in a check run. */
export function withoutCommands(printed) {
  return printed.replaceAll(COMMAND, (_, word, properties, message) => {
    const place = /(?:^|,)file=([^,]*)(?:,line=(\d+))?/.exec(properties);
    const at = place === null ? "" : ` ${decoded(place[1])}:${place[2] ?? 1}`;
    return `${word}${at} ${decoded(message).replaceAll("\n", "\n  ")}`.replaceAll("::", ": :");
  });
}

function decoded(text) {
  return text
    .replaceAll("%2C", ",")
    .replaceAll("%3A", ":")
    .replaceAll("%0A", "\n")
    .replaceAll("%0D", "\r")
    .replaceAll("%25", "%");
}
