export { EXIT, type ExitCode } from "../model/error.ts";
