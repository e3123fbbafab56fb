import { BOTH, type Check } from '../check';

/** Waiting events were tried more often than the limit says: the relay does not hold it, or the limit is another. */
export const attemptsBeyondCheck: Check = {
  id: 'attempts_beyond',
  engines: BOTH,
  examine({ outbox, facts }) {
    const { waiting } = facts.rows;
    if (waiting === null || waiting.beyond === 0) return [];
    return [
      {
        severity: 'act',
        values: { events: waiting.beyond, mostAttempts: waiting.mostAttempts, maxAttempts: outbox.parameters.maxAttempts },
      },
    ];
  },
};
