/** A key is one key: what a collation takes for the same is another event's. */
import { describe, expect, it } from 'vitest';
import { bindInline, useOpened } from '@/scripts/testing/inline';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { getEvent } from './get-event';
import { listEvents } from '../lists/list-events';
import { neighboursOf } from '../lists/neighbours';
import { ENGINE_KEYS } from '@/lib/shared/model';

const KEYS = ['order-a', 'ORDER-A', 'order-á', 'order-a '];

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    await db.query(
      'CREATE TABLE keyed (id int PRIMARY KEY, agg varchar(40) NOT NULL, dedup varchar(40) NOT NULL, made_at timestamp NOT NULL)',
    );
    await db.query('CREATE INDEX keyed_agg ON keyed (agg)');
    for (const [index, key] of KEYS.entries())
      await db.query(`INSERT INTO keyed VALUES (${index + 1}, '${key}', '${key}!', '2026-01-01 00:00:0${index}')`);
  });
  const opened = useOpened(database);

  it('is found by itself, and its events stand among nobody else’s', async () => {
    const columns = { id: 'id', aggregateId: 'agg', dedupKey: 'dedup', createdAt: 'made_at' };
    const outbox = await bindInline(opened(), 'keyed', { columns });
    const idsOf = async (filter: object): Promise<string[]> => (await listEvents(outbox, filter, { limit: 50 })).events.map(({ id }) => id);
    for (const [index, key] of KEYS.entries()) {
      const id = String(index + 1);
      // Who pastes a key with a space behind it may mean the one without.
      const typed = key === key.trim() ? [id] : expect.arrayContaining([id]);
      expect.soft(await idsOf({ aggregate: key }), key).toEqual(typed);
      expect.soft(await idsOf({ q: key }), key).toEqual(typed);
      expect.soft(await idsOf({ q: `${key}!` }), key).toEqual([id]);
      const event = (await getEvent(outbox, id))?.event;
      if (event === undefined) throw new Error('an event that is not there');
      expect
        .soft(
          (await neighboursOf(outbox, event)).neighbours.map((one) => one.event.id),
          key,
        )
        .toEqual([id]);
    }
  });
});
