import { Problem } from '@/lib/shared/problems';
import { within } from '@/lib/shared/async/within';

/** What changes something, and must not be cut in the middle when the process ends. */
export function createUnderWay() {
  const works = new Set<Promise<unknown>>();
  let ending = false;
  return {
    /** Answers what is to be called when it has ended; refuses it once the process is ending: Problem `unavailable`. */
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
    /** Refuses what is new, and waits for what is under way, for so many milliseconds at the most. */
    async end(patienceMs: number): Promise<void> {
      ending = true;
      await within(Promise.allSettled(works), patienceMs);
    },
  };
}

/** Said to whoever asks a console that has been told to end. */
export function isEnding(): Problem {
  const detail = 'The console is ending, so this try changed nothing: send it again, under the same key, when the console is back';
  return new Problem('unavailable', detail, { retryAfterSeconds: 5 });
}
