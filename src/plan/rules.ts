import {
  type Expression,
  compileExpression,
  plainVariables,
  resourceReader,
} from "../manifest/cel.ts";
import type { Variables } from "../manifest/plain-cel.ts";
import type { Address } from "../model/address.ts";
import { type DesiredResource, originOf } from "../model/desired.ts";
import { oneLine } from "../model/diagnostic.ts";
import type { Plan } from "../model/plan.ts";
import { RULE_COUNTS, type Rule } from "../model/settings.ts";
import { groupBy } from "../model/collections.ts";
import type { Violation } from "./policy.ts";

/** What rules look at: the resources in scope as resolved, and their plan, if there is one. */
export interface Judged {
  readonly stage: string;
  readonly resources: readonly DesiredResource[];
  readonly plan?: Plan;
}

/** One thing that a rule looks at: its variables, and what a violation names. */
interface Subject {
  readonly variables: Variables;
  readonly address?: Address;
  readonly resource?: DesiredResource | undefined;
}

/**
 * Returns the violations of the project's own rules (design contract, section 8). A rule that
 * cannot be evaluated is violated.
 */
export function brokenRules(rules: readonly Rule[], judged: Judged): readonly Violation[] {
  const compiled = rules.map((rule) => ({
    rule,
    when: rule.when === undefined ? undefined : expressionOf(rule, rule.when),
    required: expressionOf(rule, rule.require),
  }));
  const violations = new Map<Rule, Violation[]>(compiled.map(({ rule }) => [rule, []]));
  // The rules about one kind share what they read, and nothing is kept of it: there may be 100,000
  // test cases.
  for (const [kind, own] of groupBy(compiled, ({ rule }) => rule.for)) {
    const names = own.flatMap(({ when, required }) => [...(when?.names ?? []), ...required.names]);
    for (const subject of subjectsOf(kind, names, judged))
      for (const one of own) {
        const violation = violationOf(one, subject);
        if (violation !== undefined) violations.get(one.rule)?.push(violation);
      }
  }
  return [...violations.values()].flat();
}

interface Compiled {
  readonly rule: Rule;
  readonly when: Expression | undefined;
  readonly required: Expression;
}

function violationOf(
  { rule, when, required }: Compiled,
  { variables, address, resource }: Subject,
): Violation | undefined {
  const applies = when?.holds(variables) ?? true;
  const holds = applies === true ? required.holds(variables) : applies || true;
  if (holds === true) return undefined;
  const key = applies === true ? "require" : "when";
  const broken = holds === false ? "is not true" : "cannot be evaluated";
  return {
    rule: rule.name,
    level: rule.level,
    summary: oneLine(rule.message ?? `\`${rule[key] ?? ""}\` ${broken}`),
    detail: detailOf(rule, key, holds),
    ...(address === undefined ? {} : { address }),
    origin: (resource && originOf(resource)) ?? rule.origin,
  };
}

function detailOf(rule: Rule, key: "when" | "require", holds: false | { readonly fault: string }) {
  const expression = `\`${key}: ${oneLine(rule[key] ?? "")}\``;
  return holds === false
    ? `It breaks ${expression}.`
    : `It cannot be told: ${expression} cannot be evaluated, because ${oneLine(holds.fault)}. A field that is not declared is null: test it first, e.g. \`status != null && …\`.`;
}

/** @throws Error if the expression is wrong, which reading the manifests has checked */
function expressionOf(rule: Rule, text: string): Expression {
  const compiled = compileExpression(rule.for, text);
  if ("summary" in compiled) throw new Error(`rule ${rule.name}: ${compiled.summary}`);
  return compiled;
}

/** Returns all that rules about a subject look at, with the named variables, one after another. */
function* subjectsOf(
  kind: Rule["for"],
  names: readonly string[],
  { stage, resources, plan }: Judged,
): Iterable<Subject> {
  if (kind === "plan" || kind === "change") {
    if (plan === undefined) return;
    if (kind === "plan") yield { variables: planVariables(plan) };
    else yield* changeSubjects(plan, resources);
    return;
  }
  const read = resourceReader(kind, names);
  for (const resource of resources)
    if (resource.kind === kind)
      yield { variables: read(stage, resource), address: resource.address, resource };
}

function planVariables({ stage, changes, summary }: Plan) {
  const counts = RULE_COUNTS.map((name) => {
    return [name, name === "total" ? changes.length : summary[name]] as const;
  });
  return plainVariables({ stage, ...Object.fromEntries(counts) });
}

function changeSubjects(plan: Plan, resources: readonly DesiredResource[]): readonly Subject[] {
  const declared = new Map(resources.map((resource) => [resource.address, resource]));
  const codes = groupBy(
    plan.attention.flatMap(({ code, addresses }) =>
      addresses.map((address) => ({ code, address })),
    ),
    ({ address }) => address,
  );
  return plan.changes.map(({ address, action, cause = null, fields }) => ({
    address,
    resource: declared.get(address),
    variables: plainVariables({
      action,
      address,
      stage: plan.stage,
      cause,
      attention: (codes.get(address) ?? []).map(({ code }) => code),
      fields: fields.map(({ path, before = null, after = null }) => ({ path, before, after })),
    }),
  }));
}
