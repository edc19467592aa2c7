/**
 * Runs tasks side by side, at most `limit` at once, each after those it depends on. Tasks that become ready run in
 * the order in which they were given, so that a run with a limit of one is the same every time.
 */
export interface Task<K> {
  readonly key: K;
  /** Keys that are not among the tasks count as done. */
  readonly after: readonly K[];
  readonly run: () => Promise<void>;
}

/**
 * Resolves when every task that was started has ended. `mayStart` is asked before each; once it says no, nothing
 * further is started. A task that throws ends the schedule with its error once those under way have ended.
 */
export async function runTasks<K>(
  tasks: readonly Task<K>[],
  limit: number,
  mayStart: () => boolean,
): Promise<void> {
  const waiting = new Map<K, number>();
  const dependants = new Map<K, Task<K>[]>();
  const keys = new Set(tasks.map((task) => task.key));
  for (const task of tasks) {
    const needed = new Set(task.after.filter((key) => keys.has(key) && key !== task.key));
    waiting.set(task.key, needed.size);
    for (const key of needed) dependants.set(key, [...(dependants.get(key) ?? []), task]);
  }
  const ready = tasks.filter((task) => waiting.get(task.key) === 0);

  await new Promise<void>((resolve, reject) => {
    let next = 0;
    let running = 0;
    const errors: unknown[] = [];
    const advance = (): void => {
      while (errors.length === 0 && running < limit && next < ready.length && mayStart()) {
        const task = ready[next++];
        if (task === undefined) break;
        running++;
        task.run().then(
          () => ended(task),
          (error: unknown) => {
            errors.push(error);
            ended(task);
          },
        );
      }
      if (running > 0) return;
      if (errors.length === 0) resolve();
      else reject(errors[0]);
    };
    const ended = (task: Task<K>): void => {
      running--;
      for (const dependant of dependants.get(task.key) ?? []) {
        const left = (waiting.get(dependant.key) ?? 1) - 1;
        waiting.set(dependant.key, left);
        if (left === 0) ready.push(dependant);
      }
      advance();
    };
    advance();
  });
}
