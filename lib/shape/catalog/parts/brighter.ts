/** What Brighter's outbox has in common on both engines: rows stay, and the time of dispatch says whether one is out. */
import type { ShapeInput } from '../../shape';
import { refused } from '../../define';

export const BRIGHTER = {
  kind: 'timestamp',
  states: [
    { state: 'published', label: 'dispatched', when: { column: 'Dispatched', isNull: false } },
    { state: 'pending', label: 'outstanding', when: { column: 'Dispatched', isNull: true } },
  ],
  claim: { visible: false },
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters', release: 'not_claimed' }),
  // The sweeper holds rows in memory while it sends them.
  archive: { from: ['pending'], warnings: ['relay_may_be_sending'] },
} satisfies Partial<ShapeInput>;
