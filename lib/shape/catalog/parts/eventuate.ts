/** What both message tables of Eventuate Tram have in common. */
import type { ShapeInput } from '../../shape';
import { is, refused } from '../../define';

export const EVENTUATE = {
  match: { pattern: '^message[0-9]*$', schema: 'eventuate' },
  kind: 'flag',
  columns: {
    id: 'id',
    type: { column: 'headers', path: ['event-type'] },
    topic: 'destination',
    aggregateType: { column: 'headers', path: ['event-aggregate-type'] },
    aggregateId: { column: 'headers', path: ['event-aggregate-id'] },
    createdAt: { column: 'creation_time', time: 'epoch_ms' },
    payload: 'payload',
    headers: 'headers',
  },
  // The library writes rows of its own under this name: no events.
  rows: { not: is('destination', 'CDC-IGNORED') },
  states: [
    { state: 'published', when: is('published', 1) },
    { state: 'pending', when: { always: true } },
  ],
  claim: { visible: false },
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters', release: 'not_claimed' }),
  noArchive: 'nothing_tells_it_is_out',
  payload: { encoding: 'json' },
} satisfies Partial<ShapeInput>;

export const EVENTUATE_WARNINGS = ['published_by_polling_only'];
