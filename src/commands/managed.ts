export { liveIds } from "../app/service.ts";
