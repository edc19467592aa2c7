import type { Result } from "../problem.ts";
import { refusal } from "../problem.ts";

/**
 * Errors of the file system become a problem; anything else is a mistake of ours and stays an exception.
 *
 * @param where the file that it is about, for people.
 */
export async function attempt<T>(where: string, work: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await work();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return refusal({ kind: "failed", where, reason: error.message });
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "code" in error;
}
