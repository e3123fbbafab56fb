/** What Brighter's outbox has in common on both engines: rows stay, and the time of dispatch says whether one is out. */
import type { ShapeInput } from '../../shape';

export const BRIGHTER = {
  kind: 'timestamp',
  states: [
    { state: 'published', label: 'dispatched', when: { column: 'Dispatched', isNull: false } },
    { state: 'pending', label: 'outstanding', when: { column: 'Dispatched', isNull: true } },
  ],
  claim: { visible: false },
  operations: {
    retry: { refuse: 'relay_retries_at_once' },
    requeue: { refuse: 'no_dead_letters' },
    release: { refuse: 'not_claimed' },
  },
  // The sweeper holds rows in memory while it sends them.
  archive: { from: ['pending'], warnings: ['relay_may_be_sending'] },
} satisfies Partial<ShapeInput>;
