import { capabilitiesOf } from '../capabilities';
import { describe, expect, it } from 'vitest';
import { useOpened } from '@/scripts/testing/inline';
import { createSample, settingsFor, useTestDatabaseOf } from '@/scripts/testing/outbox';
import { bindOutbox, mappingProblems } from '../bind';
import { getEvent } from './get-event';
import { listEvents } from '../lists/list-events';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { ENGINE_KEYS } from '@/lib/shared/model';

const shape = SHAPES.find(({ key }) => key === 'outboxer-messages');
if (shape === undefined) throw new Error('There is no such shape');

describe.each(ENGINE_KEYS)('an error log beside the outbox on %s', (engine) => {
  const database = useTestDatabaseOf(engine, (made) => createSample(made, shape));
  const opened = useOpened(database);

  it('gives an event its newest error, on its page, in lists and to the search for one', async () => {
    const outbox = await bindOutbox(settingsFor(shape), opened());
    const errors = async (id: string): Promise<unknown> => (await getEvent(outbox, id))?.event.error;
    expect([await errors('4'), await errors('6'), await errors('1')]).toEqual(['broker away', 'key not found', null]);
    const { events } = await listEvents(outbox, { state: ['dead'] }, { limit: 10 });
    expect(events.map(({ id, error }) => [id, error])).toEqual([
      ['6', 'key not found'],
      ['4', 'broker away'],
    ]);
    expect((await listEvents(outbox, { error: 'no route' }, { limit: 10 })).events).toEqual([]);
    await database.query(`INSERT INTO outboxer_exceptions (message_id, message_text) VALUES (4, 'no route to broker')`);
    expect(await errors('4')).toBe('no route to broker');
  });

  it('is not read where no index leads to its rows, and a mapping that asks for it is told so', async () => {
    await database.query('DROP TABLE outboxer_exceptions');
    await database.query('CREATE TABLE outboxer_exceptions (id bigint PRIMARY KEY, message_id bigint NOT NULL, message_text text)');
    const outbox = await bindOutbox(settingsFor(shape), opened());
    expect(capabilitiesOf(outbox).fields.error).toBe(false);
    expect((await getEvent(outbox, '4'))?.event.error).toBeNull();
    expect(await mappingProblems(settingsFor(shape, { inline: true }), opened())).toEqual([
      expect.objectContaining({
        path: ['shape', 'columns', 'error', 'join'],
        message: expect.stringContaining('has no index on message_id') as string,
      }),
    ]);
  });
});
