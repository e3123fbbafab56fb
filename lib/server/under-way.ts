import { Problem } from '@/lib/shared/problems';
import { within } from '@/lib/shared/async/within';

/** Work that changes something, and must not be interrupted when the process ends. */
export function createUnderWay() {
  const works = new Set<Promise<unknown>>();
  let ending = false;
  return {
    /** Throws Problem `unavailable` once the process is ending. */
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (ending) throw isEnding();
      const going = work();
      works.add(going);
      return going.finally(() => works.delete(going));
    },
    /** Refuses new work, and waits for work under way, at most `patienceMs`. */
    async end(patienceMs: number): Promise<void> {
      ending = true;
      await within(Promise.allSettled(works), patienceMs);
    },
  };
}

export function isEnding(): Problem {
  const detail = 'The console is ending, so this try changed nothing: send it again, under the same key, when the console is back';
  return new Problem('unavailable', detail, { retryAfterSeconds: 5 });
}
