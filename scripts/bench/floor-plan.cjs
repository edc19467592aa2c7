// The minimum work of any plan: fetch the lists and parse them.
const { Pool } = require("undici");

async function main() {
  const pool = new Pool(process.env.BENCH_URL, { connections: 8 });
  const get = async (path) => {
    const { body } = await pool.request({ path, method: "GET", headers: { "x-api-key": "k" } });
    return JSON.parse(await body.text());
  };
  const targets = await get("/apiKey/v3/test-targets");
  await Promise.all(targets.map(({ id }) => get(`/apiKey/v3/test-targets/${id}/test-cases`)));
  await pool.close();
}
void main();
