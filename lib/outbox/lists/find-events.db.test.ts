import { sampleOf } from '@/fixtures/samples';
import { afterAll, expect, test } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, sampleEventId, settingsFor } from '@/scripts/testing/outbox';
import { createDirectory } from '../directory';
import { findEvents } from '../rows/get-event';
import { SHAPES } from '@/lib/shape/catalog.gen';

const shape = SHAPES.find(({ key }) => key === 'published-at');
if (shape === undefined) throw new Error('There is no such shape');

const database = useTestDatabase((made) => createSample(made, shape));
const directory = () =>
  createDirectory({
    databases: [
      { id: 'here', url: database.url },
      // Nobody listens there.
      { id: 'away', url: database.url.replace(/:\d+\//, ':1/') },
    ],
    outboxes: [
      { ...settingsFor(shape, { id: 'first' }), database: 'here' },
      { ...settingsFor(shape, { id: 'second' }), database: 'away' },
    ],
  });
const opened: ReturnType<typeof directory>[] = [];
afterAll(() => Promise.all(opened.map((one) => one.close())));

test('an event is found by its id, and the outboxes that did not answer are named', async () => {
  const outboxes = directory();
  opened.push(outboxes);
  const row = sampleOf(shape).rows.find((one) => one.in === 'main');
  if (row === undefined) throw new Error('The sample has no row');
  const id = sampleEventId(shape, row);
  const { events, unread } = await findEvents(outboxes, id);
  expect(events.map(({ outbox, event }) => [outbox, event.id])).toEqual([['first', id]]);
  expect(unread).toEqual(['second']);
  expect(await findEvents(outboxes, 'no such id')).toEqual({ events: [], unread: ['second'] });
});
