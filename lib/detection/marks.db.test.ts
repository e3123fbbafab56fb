/** What rows are marked with, as teams mark them, on both engines: the proposal binds, and every row is in its state. */
import { describe, expect, it } from 'vitest';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { ENGINE_KEYS } from '@/lib/shared/model';
import type { Examination } from '@/lib/shared/detection';
import { bindInline, useOpened } from '@/scripts/testing/inline';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { examineTable } from './detect';

interface Marked {
  columns: string;
  /** Values of the columns after id, event_type, payload and created_at, with the state of the row. */
  rows: [values: string, state: string][];
  /** Parts of the lines. */
  says?: string[];
}

/** `TIME`, `NOW` and `LATER` are those of the engine. */
const TABLES: Record<string, Marked> = {
  empty_claim_outbox: {
    columns: "locked_by varchar(40) NOT NULL DEFAULT '', sent_at TIME NULL",
    rows: [
      ["'', NULL", 'pending'],
      ["'w1', NULL", 'processing'],
      ["'', NOW", 'published'],
    ],
  },
  given_back_outbox: {
    columns: 'locked_by varchar(40), sent_at TIME NULL',
    rows: [
      ["'', NULL", 'pending'],
      ['NULL, NULL', 'pending'],
      ["'w1', NULL", 'processing'],
    ],
  },
  text_time_outbox: {
    columns: "sent_at varchar(40) NOT NULL DEFAULT '', died_at varchar(40)",
    rows: [
      ["'', NULL", 'pending'],
      ["'', ''", 'pending'],
      ["'2026-01-01T00:00:00Z', NULL", 'published'],
      ["'', '2026-01-01T00:00:00Z'", 'dead'],
    ],
  },
  zero_outbox: {
    columns: 'processed_at bigint NOT NULL DEFAULT 0, worker_id int NOT NULL DEFAULT 0',
    rows: [
      ['0, 0', 'pending'],
      ['0, 7', 'processing'],
      ['1767225600000, 0', 'published'],
    ],
    says: ['{ column: processed_at, above: 0 }'],
  },
};

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const [time, later] =
    engine === 'postgres' ? ['timestamptz', "now() + interval '1 hour'"] : ['datetime(6)', 'utc_timestamp(6) + interval 1 hour'];
  const now = engine === 'postgres' ? 'now()' : 'utc_timestamp(6)';
  const spelled = (text: string): string => text.replaceAll('TIME', time).replaceAll('NOW', now).replaceAll('LATER', later);
  const database = useTestDatabaseOf(engine, async (db) => {
    for (const [table, { columns, rows }] of Object.entries(TABLES)) {
      await db.query(
        spelled(
          `CREATE TABLE ${table} (id int PRIMARY KEY, event_type varchar(40) NOT NULL, payload json NOT NULL, created_at TIME NOT NULL, ${columns})`,
        ),
      );
      for (const [index, [values]] of rows.entries())
        await db.query(spelled(`INSERT INTO ${table} VALUES (${String(index + 1)}, 'order.created', '{}', NOW, ${values})`));
    }
  });
  const opened = useOpened(database);
  const look = (table: string): Promise<Examination> =>
    examineTable(
      opened(),
      { schema: engine === 'postgres' ? 'public' : database.name, table },
      {},
      { database: opened().id, taken: [], rows: 10, confirmed: {} },
    );

  it.each(Object.entries(TABLES))('%s', async (table, { rows, says = [] }) => {
    const { problem, sample, yaml } = await look(table);
    expect(problem).toBeNull();
    const found = Object.fromEntries((sample?.rows ?? []).map(({ event }) => [event.id, event.state]));
    expect(found, yaml).toEqual(Object.fromEntries(rows.map(([, state], index) => [String(index + 1), state])));
    for (const line of says) expect(yaml).toContain(line);
  });

  it('an empty claim is nobody’s, and the number 0 is no time', async () => {
    const claimed = await bindInline(opened(), 'empty_claim_outbox', { columns: { id: 'id', lockedBy: 'locked_by' } });
    expect((await getEvent(claimed, '1'))?.claim.lockedBy).toBeNull();
    expect((await getEvent(claimed, '2'))?.claim.lockedBy).toBe('w1');
    const timed = await bindInline(opened(), 'zero_outbox', {
      columns: { id: 'id', publishedAt: { column: 'processed_at', time: 'epoch_ms' } },
    });
    const { events } = await listEvents(timed, {}, { limit: 5 });
    expect(Object.fromEntries(events.map(({ id, publishedAt }) => [id, publishedAt]))).toEqual({
      1: null,
      2: null,
      3: '2026-01-01T00:00:00.000000Z',
    });
  });
});
