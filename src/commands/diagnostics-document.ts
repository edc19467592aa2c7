import type { World } from "../cli/world.ts";
import type { DiagnosticView } from "../render/diagnostics.ts";

/** Diagnostics in a format that has a form for them, which is loaded only then; nothing for any other. */
export async function diagnosticsDocument(
  format: string,
  views: readonly DiagnosticView[],
  { version }: Pick<World, "version">,
): Promise<string | undefined> {
  switch (format) {
    case "github":
      return (await import("../render/github.ts")).renderDiagnosticsGithub(views);
    case "sarif":
      return (await import("../render/sarif.ts")).renderDiagnosticsSarif(views, `tasc ${version}`);
    case "junit":
      return (await import("../render/junit.ts")).renderDiagnosticsJunit(views, "tasc validate");
    default:
      return undefined;
  }
}
