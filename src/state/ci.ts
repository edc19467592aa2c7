type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that hold a link to the running CI job, in the order in which they are asked. */
const LINKS = [
  "CI_JOB_URL", // GitLab
  "CIRCLE_BUILD_URL",
  "BUILDKITE_BUILD_URL",
  "TRAVIS_JOB_WEB_URL",
  "DRONE_BUILD_LINK",
  "CI_PIPELINE_URL", // Woodpecker
  "BUILD_URL", // Jenkins; general, hence last
];

/** Link to the CI job that this environment belongs to, if it names one. */
export function jobLink(environment: Environment): string | undefined {
  return (
    gitHubLink(environment) ??
    azureLink(environment) ??
    LINKS.map((name) => environment[name]).find((link) => link !== undefined && link !== "")
  );
}

function gitHubLink(environment: Environment): string | undefined {
  const {
    GITHUB_SERVER_URL: server,
    GITHUB_REPOSITORY: repository,
    GITHUB_RUN_ID: run,
    GITHUB_RUN_ATTEMPT: attempt,
  } = environment;
  if (!server || !repository || !run) return undefined;
  const link = `${server}/${repository}/actions/runs/${run}`;
  return attempt ? `${link}/attempts/${attempt}` : link;
}

function azureLink(environment: Environment): string | undefined {
  const { SYSTEM_COLLECTIONURI: collection, SYSTEM_TEAMPROJECT: project, BUILD_BUILDID: build } = environment;
  if (!collection || !project || !build) return undefined;
  return `${collection}${encodeURIComponent(project)}/_build/results?buildId=${build}`;
}
