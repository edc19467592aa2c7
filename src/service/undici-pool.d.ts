/** undici declares no types for its inner modules; this one is the `Pool` that its index exports. */
declare module "undici/lib/dispatcher/pool.js" {
  import type { Pool } from "undici";
  const PoolClass: typeof Pool;
  export default PoolClass;
}
