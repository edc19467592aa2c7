import { expect, test } from "vitest";
import { jobLink } from "../../src/state/lock.ts";

const GITHUB = {
  GITHUB_SERVER_URL: "https://github.com",
  GITHUB_REPOSITORY: "acme/shop",
  GITHUB_RUN_ID: "42",
};
const AZURE = {
  SYSTEM_COLLECTIONURI: "https://dev.azure.com/acme/",
  SYSTEM_TEAMPROJECT: "Web Shop",
};

interface Row {
  readonly rule: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly link: string | undefined;
}

const rows: readonly Row[] = [
  { rule: "undefined outside of CI", environment: { HOME: "/home/ann" }, link: undefined },
  { rule: "GitHub", environment: GITHUB, link: "https://github.com/acme/shop/actions/runs/42" },
  {
    rule: "GitHub, second attempt",
    environment: { ...GITHUB, GITHUB_RUN_ATTEMPT: "2" },
    link: "https://github.com/acme/shop/actions/runs/42/attempts/2",
  },
  {
    rule: "GitLab",
    environment: {
      CI_JOB_URL: "https://gitlab.com/j/1",
      CI_PIPELINE_URL: "https://gitlab.com/p/1",
    },
    link: "https://gitlab.com/j/1",
  },
  {
    rule: "CircleCI",
    environment: { CIRCLE_BUILD_URL: "https://circleci.com/1" },
    link: "https://circleci.com/1",
  },
  { rule: "Jenkins", environment: { BUILD_URL: "https://ci/job/1/" }, link: "https://ci/job/1/" },
  {
    rule: "Azure",
    environment: { ...AZURE, BUILD_BUILDID: "7" },
    link: "https://dev.azure.com/acme/Web%20Shop/_build/results?buildId=7",
  },
  {
    rule: "an empty variable is ignored",
    environment: { CI_JOB_URL: "", BUILD_URL: "https://ci/2" },
    link: "https://ci/2",
  },
];

test.each(rows)("jobLink returns the link of the CI job: $rule", ({ environment, link }) => {
  expect(jobLink(environment)).toBe(link);
});
