import { BOTH, type Check } from '../check';

/** Used up their attempts and still count as waiting: no poll takes them, no purge does either. */
export const strandedRowsCheck: Check = {
  id: 'stranded_rows',
  engines: BOTH,
  examine({ outbox, facts }) {
    const { waiting } = facts.rows;
    if (waiting === null || waiting.stranded === 0) return [];
    return [
      {
        severity: 'act',
        values: { events: waiting.stranded, maxAttempts: outbox.parameters.maxAttempts, oldestMs: waiting.oldestStrandedMs },
      },
    ];
  },
};
