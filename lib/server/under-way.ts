import { Problem } from '@/lib/shared/problems';
import { within } from '@/lib/shared/async/within';

/** Work that changes something, and must not be interrupted when the process ends. */
export function createUnderWay() {
  const works = new Set<Promise<unknown>>();
  let ending = false;
  return {
    /** Returns a function to call when the work has ended. Throws Problem `unavailable` once the process is ending. */
    begin(): () => void {
      if (ending) throw isEnding();
      let ended = (): void => undefined;
      const work = new Promise<void>((resolve) => (ended = resolve));
      works.add(work);
      return () => {
        works.delete(work);
        ended();
      };
    },
    /** Refuses new work, and waits for work under way, at most `patienceMs`. */
    async end(patienceMs: number): Promise<void> {
      ending = true;
      await within(Promise.allSettled(works), patienceMs);
    },
  };
}

/** The answer of a console that is ending. */
export function isEnding(): Problem {
  const detail = 'The console is ending, so this try changed nothing: send it again, under the same key, when the console is back';
  return new Problem('unavailable', detail, { retryAfterSeconds: 5 });
}
