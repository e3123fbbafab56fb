import { Problem } from '@/lib/shared/problems';
import { within } from '@/lib/shared/async/within';

/** What changes something, and must not be cut in the middle when the process ends. */
export interface UnderWay {
  /** Carries it out, or refuses it once the process is ending: Problem `unavailable`. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Refuses what is new, and waits for what is under way, for so many milliseconds at the most. */
  end(patienceMs: number): Promise<void>;
}

export function createUnderWay(): UnderWay {
  const works = new Set<Promise<unknown>>();
  let ending = false;
  return {
    async run(work) {
      if (ending) throw isEnding();
      const result = work();
      works.add(result);
      try {
        return await result;
      } finally {
        works.delete(result);
      }
    },
    async end(patienceMs) {
      ending = true;
      await within(Promise.allSettled(works), patienceMs);
    },
  };
}

/** Said to whoever asks a console that has been told to end. */
export function isEnding(): Problem {
  return new Problem(
    'unavailable',
    'The console is ending, so this try changed nothing: send it again, under the same key, when the console is back',
    { retryAfterSeconds: 5 },
  );
}
