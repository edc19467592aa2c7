import type { Service } from "../service.ts";
import { endGeneration } from "./end.ts";

/** Ends generations when their time has come. */
export type Runner = {
  /** Sets a timer for every stored generation that has none: after a write, and when the process starts. */
  schedule(): void;
  /** Ends all that run, now, in the order of their requests; says how many. */
  finishAll(): number;
  stop(): void;
};

export function createRunner(service: Service): Runner {
  const timers = new Map<string, NodeJS.Timeout>();
  const end = (id: string) => {
    clearTimeout(timers.get(id));
    timers.delete(id);
    endGeneration(service, id);
  };
  return {
    schedule() {
      for (const { id, dueAt } of service.store.generations.all()) {
        if (timers.has(id)) continue;
        const wait = Math.max(0, dueAt - Date.parse(service.world.now()));
        timers.set(
          id,
          setTimeout(() => end(id), wait),
        );
      }
    },
    finishAll() {
      const running = [...service.store.generations.all()];
      for (const { id } of running) end(id);
      return running.length;
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
