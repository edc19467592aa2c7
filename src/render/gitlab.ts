import type { PlanJson } from "../model/plan.ts";

/**
 * GitLab's Terraform report: the counts of the merge request's widget. A rediscovery counts as an update there, and a
 * test case that no longer runs as a deletion.
 */
export function renderPlanGitlab({ summary }: PlanJson): string {
  const { create, update, rediscover, disable } = summary;
  return `${JSON.stringify({ create, update: update + rediscover, delete: disable })}\n`;
}
