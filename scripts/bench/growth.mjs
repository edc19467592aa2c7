// The growth of time and memory: the exponent, and a plot.

/** The slope of a line through the points on logarithmic axes, by least squares. */
export function exponent(steps) {
  const points = steps.map(({ cases, ms }) => [Math.log(cases), Math.log(ms)]);
  const mean = (at) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return above / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

const WIDTH = 640;
const HEIGHT = 360;
const EDGE = 60;

export function drawGrowth(steps) {
  const x = axis(
    steps.map(({ cases }) => cases),
    EDGE,
    WIDTH - EDGE,
  );
  const time = axis(
    steps.map(({ ms }) => ms),
    HEIGHT - EDGE,
    EDGE,
  );
  const memory = axis([1, ...steps.map(({ mib }) => mib)], HEIGHT - EDGE, EDGE);
  const line = (of) => steps.map((step) => `${x(step.cases)},${of(step)}`).join(" ");
  const labels = steps.map(
    ({ cases, ms, mib }) =>
      `<text x="${x(cases)}" y="${HEIGHT - EDGE + 18}" text-anchor="middle">${cases.toLocaleString("en")}</text>` +
      `<text x="${x(cases)}" y="${time(ms) - 8}" text-anchor="middle" fill="#0969da">${(ms / 1000).toFixed(2)} s</text>` +
      `<text x="${x(cases)}" y="${memory(mib) - 8}" text-anchor="middle" fill="#9a6700">${Math.round(mib)} MiB</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#57606a">
<title>Time and peak memory of an empty plan over the number of test cases</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="${WIDTH / 2}" y="24" text-anchor="middle" font-size="14">An empty plan: time (blue) and peak memory (brown), logarithmic axes</text>
<line x1="${EDGE}" y1="${HEIGHT - EDGE}" x2="${WIDTH - EDGE}" y2="${HEIGHT - EDGE}" stroke="#d0d7de"/>
<polyline points="${line(({ ms }) => time(ms))}" fill="none" stroke="#0969da" stroke-width="2"/>
<polyline points="${line(({ mib }) => memory(mib))}" fill="none" stroke="#9a6700" stroke-width="2"/>
${labels.join("\n")}
<text x="${WIDTH / 2}" y="${HEIGHT - 16}" text-anchor="middle">test cases</text>
</svg>
`;
}

function axis(values, from, to) {
  const [low, high] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  return (value) => Math.round(from + ((Math.log(value) - low) / (high - low)) * (to - from));
}
