// The minimum work of an apply: the same PATCHes from the same library at the same concurrency.
// Arguments: count, concurrency.
const { Pool } = require("undici");

const [count, concurrency] = process.argv.slice(2).map(Number);

async function main() {
  const pool = new Pool(process.env.BENCH_URL, { connections: concurrency });
  const headers = { "x-api-key": "k", "content-type": "application/json" };
  const body = JSON.stringify({ status: "DISABLED" });
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const path = `/apiKey/v3/test-targets/t/test-cases/${next++}`;
      const answer = await pool.request({ path, method: "PATCH", headers, body });
      await answer.body.json();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await pool.close();
}
void main();
