import { survey } from "../app/plan.ts";
import { type Session, withSession } from "../app/session.ts";
import { explanationView } from "../inspect/explain-view.ts";
import { type Explanation, explain, fieldsNamed } from "../inspect/explain.ts";
import { locate, nearest, placesIn } from "../manifest/problem.ts";
import { settingsLayers, variablesOf } from "../manifest/settings.ts";
import { KINDS } from "../model/address.ts";
import { type DesiredResource, resourcesOf } from "../model/desired.ts";
import { ERROR_CODES, errorCode } from "../model/error-codes.ts";
import { fieldsOf } from "../model/fields.ts";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
import { targetOf } from "../plan/input.ts";
import type { View } from "../render/view.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/**
 * `tasc explain ADDRESS [FIELD]`: where values come from, and what follows from them. `tasc explain CODE`: the entry of the
 * catalogue of errors. It changes nothing.
 */
export async function run(options: OptionsOf<"explain">, { host, console }: Context): Promise<ExitCode> {
  if (isCode(options)) {
    console.show(codeView(options.address), options.format);
    return EXIT.done;
  }
  // Without the key fingerprints cannot be compared, and the rest can still be told.
  const needs = { apiKey: !options.offline };
  return withSession(
    options,
    host,
    async (session) => {
      const found = await explanationOf(options, session);
      const { sources } = session.project;
      const explanation = { ...found, diagnostics: await locate(found.diagnostics, sources) };
      console.show(explanationView(explanation, await placesIn(sources)), options.format);
      if (options.format !== "json") console.diagnostics(explanation.diagnostics, session.source);
      return EXIT.done;
    },
    needs,
  );
}

/** Addresses have dots, and codes have none; a kind alone is the beginning of an address. */
function isCode({ address, field }: OptionsOf<"explain">): boolean {
  return field === undefined && !address.includes(".") && !KINDS.some((kind) => kind === address);
}

/** @throws TascError if there is no such code */
function codeView(code: string): View {
  const entry = errorCode(code);
  if (entry === undefined)
    throw stop(
      "invalid",
      "unknown-code",
      `No diagnostic has the code ${code}`,
      `Addresses look like testCase.shop.login, and codes like unknown-key.${didYouMean(nearest(code, ERROR_CODES.keys()))}`,
    );
  const { title, explanation, remedy } = entry;
  return {
    json: { formatVersion: "1.0", code, title, explanation, remedy },
    text: [
      [[code, ": ", title]],
      [
        { label: ["  meaning  "], column: 11, beside: [explanation] },
        { label: ["  remedy   "], column: 11, beside: [remedy] },
      ],
    ],
  };
}

async function explanationOf(options: OptionsOf<"explain">, session: Session): Promise<Explanation> {
  // Reading one target is enough, so the plan is narrowed to what is asked for.
  const surveyed = options.offline ? undefined : await survey(session, { only: [options.address] });
  const { resource, fields } = wantedOf(options, session);
  const { states } = surveyed?.remembered ?? (await session.remembered());
  const { stage } = session.desired;
  return explain({
    resource,
    fields,
    around: { stage, env: session.env, vars: variablesOf(settingsLayers(session.project.project, stage)) },
    state: states.get(targetOf(resource.address)),
    fingerprints: session.fingerprints,
    planned: surveyed?.planned,
  });
}

/** What the command line asks for. @throws TascError if there is nothing of that name */
function wantedOf(
  { address, field }: OptionsOf<"explain">,
  { desired }: Session,
): { readonly resource: DesiredResource; readonly fields: readonly string[] } {
  const resources = desired.targets.flatMap(resourcesOf);
  const resource = resources.find((candidate) => candidate.address === address);
  if (resource === undefined)
    throw stop(
      "invalid",
      "unknown-address",
      `No manifest declares ${address}`,
      `Addresses look like testCase.shop.login.${didYouMean(
        nearest(
          address,
          resources.map((candidate) => candidate.address),
        ),
      )}`,
    );
  if (field === undefined) return { resource, fields: [] };
  const fields = fieldsNamed(resource.kind, field);
  if (fields.length > 0) return { resource, fields };
  const known = fieldsOf(resource.kind).map(({ name }) => name);
  throw stop(
    "invalid",
    "unknown-field",
    `${address} has no field ${field}`,
    `Its fields are ${known.join(", ")}.${didYouMean(nearest(field, known))}`,
  );
}

function didYouMean(word: string | undefined): string {
  return word === undefined ? "" : ` Did you mean ${word}?`;
}
