import type { PlanJson } from "../model/plan.ts";

/**
 * GitLab's Terraform report: the counts of the merge request's widget. What makes the service generate anew is an
 * update there; nothing is ever deleted.
 */
export function renderPlanGitlab({ summary }: PlanJson): string {
  const { create, update, rediscover } = summary;
  return `${JSON.stringify({ create, update: update + rediscover, delete: 0 })}\n`;
}
