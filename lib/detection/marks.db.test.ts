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

/** `TIME`, `DATE`, `NOW`, `LATER`, `BYTES`, `ZERO` and `CODE` are those of the engine. */
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
  leased_words_outbox: {
    columns:
      'status varchar(9) NOT NULL, attempts int NOT NULL DEFAULT 0, lease_expires TIME NULL, due_at int NULL, group_id varchar(9), seq bigint',
    rows: [
      ["'NEW', 0, NULL, NULL, 'a', 1", 'pending'],
      ["'NEW', 0, LATER, 1767225600, 'a', 2", 'processing'],
      ["'NEW', 2, NOW, 1767225600, 'a', 3", 'retrying'],
      ["'NEW', 2, LATER, 1767225600, 'b', 4", 'processing'],
      ["'SENT', 1, LATER, NULL, 'b', 5", 'published'],
    ],
    says: [
      'availableAt: { column: due_at, time: epoch_s }',
      'orderingKey: group_id',
      'ordering: { key: orderingKey, by: sequence } # add blockedBy: [pending, retrying]',
    ],
  },
  claimed_words_outbox: {
    columns: "status varchar(9) NOT NULL, leased_by varchar(9) NOT NULL DEFAULT ''",
    rows: [
      ["'NEW', ''", 'pending'],
      ["'RETRY', 'w1'", 'processing'],
      ["'RETRY', ''", 'retrying'],
    ],
  },
  unset_words_outbox: {
    columns: 'status varchar(9), retries int',
    rows: [
      ['NULL, NULL', 'pending'],
      ['NULL, 2', 'retrying'],
      ["'SENT', 2", 'published'],
    ],
    says: ['{ column: status, isNull: true } } # confirm'],
  },
  no_words_outbox: {
    columns: 'status varchar(9)',
    rows: [['NULL', 'pending']],
  },
  limited_outbox: {
    columns: 'sent_at TIME NULL, attempts int NOT NULL, max_attempts int NOT NULL',
    rows: [
      ['NULL, 0, 5', 'pending'],
      ['NULL, 4, 5', 'retrying'],
      ['NULL, 5, 5', 'dead'],
      ['NOW, 5, 5', 'published'],
    ],
    says: ['atLeast: { column: max_attempts } } } # confirm'],
  },
  // Waiting by its word, and given up by a flag.
  given_up_outbox: {
    columns: 'status varchar(9) NOT NULL, dead_lettered boolean NOT NULL DEFAULT false',
    rows: [
      ["'NEW', false", 'pending'],
      ["'NEW', true", 'dead'],
    ],
  },
  seconds_outbox: {
    columns: 'sent_at int, next_retry_at int, locked_until int',
    rows: [
      ['NULL, NULL, NULL', 'pending'],
      ['NULL, NULL, 2147480000', 'processing'],
      ['1767225600, NULL, NULL', 'published'],
    ],
    says: ['publishedAt: { column: sent_at, time: epoch_s }', 'availableAt: { column: next_retry_at, time: epoch_s }'],
  },
  // A date that stands for none, where a row is not published, and where none is dead.
  zero_date_outbox: {
    columns: "sent_at DATE NULL, died_at DATE NOT NULL DEFAULT 'ZERO'",
    rows: [
      ["'ZERO', 'ZERO'", 'pending'],
      ["NULL, 'ZERO'", 'pending'],
      ["NOW, 'ZERO'", 'published'],
      ['NULL, NOW', 'dead'],
    ],
    says: ['olderThan: 1576800000 } } ] } } # confirm'],
  },
  never_null_outbox: {
    columns: "sent_at DATE NOT NULL DEFAULT '1970-01-01 00:00:00', tries int NOT NULL DEFAULT 0",
    rows: [
      ["'1970-01-01 00:00:00', 0", 'pending'],
      ["'1970-01-01 00:00:00', 3", 'retrying'],
      ['NOW, 0', 'published'],
    ],
  },
  zero_date_words_outbox: {
    columns: "status int NOT NULL, sent_at DATE NOT NULL DEFAULT 'ZERO'",
    rows: [
      ["2, 'ZERO'", 'unmapped'],
      ['7, NOW', 'published'],
    ],
    says: ['equals: 7 } } # confirm'],
  },
  // MySQL's truth value, in which more than two numbers are kept.
  narrow_words_outbox: {
    columns: 'status CODE NOT NULL, sent_ms bigint NOT NULL DEFAULT 0',
    rows: [
      ['2, 0', 'unmapped'],
      ['1, 1767225600000', 'published'],
    ],
    says: ['equals: 1 } } # confirm', 'publishedAt: { column: sent_ms, time: epoch_ms }'],
  },
  // How long it took, not when.
  duration_outbox: {
    columns: 'processed_ms int, handled_ms bigint NOT NULL DEFAULT 0',
    rows: [
      ['120, 340', 'pending'],
      ['NULL, 0', 'pending'],
    ],
  },
  bytes_claim_outbox: {
    columns: "locked_by BYTES NOT NULL DEFAULT '', sent_at TIME NULL",
    rows: [
      ["'', NULL", 'pending'],
      ["'w1', NULL", 'processing'],
    ],
  },
  time_claim_outbox: {
    columns: 'claimed_at TIME NULL, sent_at TIME NULL',
    rows: [
      ['NULL, NULL', 'pending'],
      ['NOW, NULL', 'processing'],
      ['NOW, NOW', 'published'],
    ],
    says: ['{ column: claimed_at, isNull: false } } # confirm'],
  },
  // When it was last tried is no claim.
  tried_outbox: {
    columns: 'last_attempt_at TIME NULL, sent_at TIME NULL',
    rows: [['NOW, NULL', 'pending']],
  },
  keyed_outbox: {
    columns: 'ordering_key varchar(9), sent_at TIME NULL',
    rows: [["'a', NULL", 'pending']],
    says: ['aggregateId: ordering_key', 'orderingKey: ordering_key', 'ordering: { key: orderingKey, by: createdAt }'],
  },
  ...Object.fromEntries(
    ['order_events processed_at', 'domain_events delivered_at', 'shipping_events handled_at', 'billing_events completed_at'].map((name) => {
      const [table = '', column = ''] = name.split(' ');
      const rows: Marked['rows'] = [
        ['NULL', 'pending'],
        ['NOW', 'published'],
      ];
      return [table, { columns: `${column} TIME NULL`, rows }];
    }),
  ),
};

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const [time, later] =
    engine === 'postgres' ? ['timestamptz', "now() + interval '1 hour'"] : ['datetime(6)', 'utc_timestamp(6) + interval 1 hour'];
  const now = engine === 'postgres' ? 'now()' : 'utc_timestamp(6)';
  const [date, bytes, zero] =
    engine === 'postgres' ? ['timestamp', 'bytea', '0001-01-01 00:00:00'] : ['datetime', 'varbinary(36)', '0000-00-00 00:00:00'];
  const code = engine === 'postgres' ? 'smallint' : 'tinyint(1)';
  const words = { TIME: time, DATE: date, NOW: now, LATER: later, BYTES: bytes, ZERO: zero, CODE: code };
  const spelled = (text: string): string =>
    text.replace(/TIME|DATE|NOW|LATER|BYTES|ZERO|CODE/g, (word) => words[word as keyof typeof words]);
  const database = useTestDatabaseOf(engine, async (db) => {
    // MySQL's own mode takes no zero date.
    const run = (text: string) => (db.engine === 'mysql' ? db.queryUnder("sql_mode = ''", text) : db.query(text));
    for (const [table, { columns, rows }] of Object.entries(TABLES)) {
      await run(
        spelled(
          `CREATE TABLE ${table} (id int PRIMARY KEY, event_type varchar(40) NOT NULL, payload json NOT NULL, created_at TIME NOT NULL, ${columns})`,
        ),
      );
      for (const [index, [values]] of rows.entries())
        await run(spelled(`INSERT INTO ${table} VALUES (${String(index + 1)}, 'order.created', '{}', NOW, ${values})`));
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
    // Nobody has to know what an anchor is.
    expect(yaml).not.toMatch(/[&*]a\d/);
  });

  if (engine === 'mysql')
    it('ids of sixteen bytes are proposed as UUIDs', async () => {
      const uuid = '0198c5e2-7d2b-7a55-9f10-0242ac120002';
      await database.query(
        'CREATE TABLE bytes_outbox (id binary(16) PRIMARY KEY, aggregate_id binary(16), event_type varchar(40), payload json, created_at datetime, sent_at datetime)',
      );
      await database.query(`INSERT INTO bytes_outbox VALUES (unhex(replace('${uuid}', '-', '')), NULL, 'a', '{}', now(), NULL)`);
      const { problem, sample, yaml } = await look('bytes_outbox');
      expect(problem).toBeNull();
      expect(yaml).toContain('bytes: { id: uuid, aggregate_id: uuid } # confirm');
      expect(sample?.rows.map(({ event }) => event.id)).toEqual([uuid]);
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
