import { type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { type Check, check, checkClock, skipped } from "../inspect/doctor.ts";
import { mergedAt } from "../manifest/resolve.ts";
import { settingsLayers } from "../manifest/settings.ts";
import { count } from "../render/words.ts";
import { describeFailure } from "../service/describe-failure.ts";
import { parseHttpDate } from "../service/exchange.ts";
import type { CallFinished, Failure } from "../service/request.ts";
import { connect } from "./connect.ts";
import type { Opened } from "./opening.ts";
import { quietConsole } from "./quiet.ts";

/** The checks `key`, `service` and `clock`: one call, sent once, answers them all. */
export async function checkService(given: Given, world: World, opened: Opened): Promise<readonly Check[]> {
  const { settings } = opened.project;
  if (settings.apiKey === undefined)
    return [missingKey(opened), skipped("service", "key"), skipped("clock", "key")];
  const once = { ...given, options: { ...given.options, retries: textOption(given, "retries") ?? "0" } };
  const quiet = quietConsole(opened.console);
  let answer: CallFinished | undefined;
  let local = 0;
  const connected = connect(once, world, settings, quiet, {
    heard: (event) => {
      if (event.kind === "finished") [answer, local] = [event, world.now()];
    },
  });
  if (!connected.ok) {
    const [said] = quiet.said;
    return [
      notTried(),
      check("service", "fail", said?.summary ?? "it cannot be called", said?.detail),
      skipped("clock", "service"),
    ];
  }
  try {
    const listed = await connected.client.listTargets();
    if (!listed.ok) return [...refused(listed.failure, settings.baseUrl), clockOf(answer, local)];
    const time = `in ${answer?.ms ?? 0} ms`;
    return [
      check("key", "ok", "the service accepts it"),
      check(
        "service",
        "ok",
        `${settings.baseUrl} answers ${time}: ${count(listed.value.length, "test target")}`,
      ),
      clockOf(answer, local),
    ];
  } finally {
    await connected.client.close();
  }
}

function missingKey({ project }: Opened): Check {
  const layers = settingsLayers(project.project, project.settings.stage);
  const declared = mergedAt(layers, ["service", "apiKey"]);
  return typeof declared === "string"
    ? check(
        "key",
        "fail",
        `\`service.apiKey\` is ${declared}, which is not set`,
        "Set the environment variable, or name a file of variables with --dotenv.",
      )
    : check(
        "key",
        "fail",
        "`service.apiKey` is missing",
        'Write it into tasc.yaml, for the project or for the stage:\nservice: { apiKey: "${secret:TASC_API_KEY}" }',
      );
}

function notTried(): Check {
  return check("key", "skipped", "it is given, and could not be tried, since service failed");
}

function refused(failure: Failure, baseUrl: string): readonly Check[] {
  const { summary, detail } = describeFailure(failure);
  if (failure.kind === "unsendable")
    return [check("key", "fail", summary, detail), skipped("service", "key")];
  if (failure.kind === "key-refused")
    return [check("key", "fail", summary, detail), check("service", "ok", `${baseUrl} answers`)];
  return [notTried(), check("service", "fail", `${baseUrl}: ${summary}`, detail)];
}

function clockOf(answer: CallFinished | undefined, local: number): Check {
  if (answer?.status === undefined) return skipped("clock", "service");
  const service = parseHttpDate(answer.date?.trim() ?? "", local);
  if (service === undefined)
    return check("clock", "skipped", "not checked, since the service does not tell the time");
  return checkClock({ service, local });
}
