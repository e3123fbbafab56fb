/** The same rows in a table of each engine: every figure and every verdict's figures are the same, however the rows are found. */
import { sampleOf } from '@/fixtures/samples';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { type Shape } from '@/lib/shape/shape';
import { defineShape } from '@/lib/shape/define';
import { ENGINE_KEYS, type EngineKey } from '@/lib/shared/model';
import { insertRow, useTestDatabaseOf, type AnyTestDatabase } from '@/scripts/testing/outbox';
import { takeReading } from '@/lib/snapshots/readings';
import type { Reading } from './reading';
import { shapeCalled, testOutbox, useCompute } from '@/fixtures/outboxes';

const NOW = Math.floor(Date.now() / 1_000) * 1_000;
/** Away from every moment a figure asks for: ten and fifteen seconds, five minutes and a quarter of an hour ago. */
const AGES = [60, 61, 75, 119, 180, 181, 240, 420, 421, 600, 780, 1_200, 3_000, 3_661, 90_000, 200_000, 8_000_000];
const FOLDED_TO = new Date(NOW - 1_500_000).toISOString();
const TYPES = ['paid', 'Paid', 'sent', 'größe', '한국', ''];

/** The same numbers in every run. */
function drawn(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}
const at = (ago: number, ms = 0): string => new Date(NOW - ago * 1_000 + ms).toISOString().replace('T', ' ').replace('Z', '');

type Rows = Record<string, unknown>[];

const KEYED = defineShape({
  key: 'inline',
  label: 'keyed',
  origin: 'test',
  engines: ['postgres', 'mysql'],
  table: 'keyed',
  columns: {
    id: 'id', type: 'kind', aggregateId: 'owner', createdAt: 'made', publishedAt: 'sent', attemptedAt: 'taken', attempts: 'tries', error: 'why',
  },
  states: [
    { state: 'published', when: { column: 'state', equals: 'done' } },
    { state: 'dead', when: { column: 'state', equals: 'dead' } },
    { state: 'processing', when: { column: 'state', equals: 'busy' } },
    { state: 'retrying', when: { all: [{ column: 'state', equals: 'new' }, { column: 'tries', above: 0 }] } },
    { state: 'pending', when: { column: 'state', equals: 'new' } },
  ],
  parameters: { stuckAfter: 300 },
}); // prettier-ignore

function keyedRows(count: number): Rows {
  const draw = drawn(7);
  const one = <T>(values: readonly T[]): T => values[draw(values.length)] as T;
  return Array.from({ length: count }, (_, id) => {
    const state = one(['done', 'done', 'done', 'dead', 'busy', 'new', 'new', 'odd']);
    const ago = one(AGES) + draw(3);
    const tries = state === 'new' ? one([0, 0, 1, 4, 21]) : 1 + draw(3);
    const took = one([5, 40, 750, 12_345, -3_000, 86_400_000]);
    return {
      id,
      kind: one(TYPES),
      owner: one([null, 'a', 'b', 'B', 'c']),
      state,
      // No two at one moment: which of them is the first would be chance.
      made: draw(20) === 0 ? null : at(ago, id),
      sent: state === 'done' && draw(15) > 0 ? at(Math.max(60, ago), Math.min(took, 0) === took ? took : Math.min(took, 900)) : null,
      taken: draw(4) === 0 ? null : at(ago, draw(4_000)),
      tries,
      why: draw(3) === 0 ? null : one(['no such customer', 'refused', `it's "odd" \\ 🚚`, 'x'.repeat(500)]),
    };
  });
}

const COLUMNS: Record<EngineKey, string> = {
  postgres:
    'id bigint primary key, kind varchar(40) not null, owner text, state varchar(10) not null, made timestamp(3), sent timestamp(3), taken timestamp(3), tries int not null, why text',
  mysql:
    'id bigint primary key, kind varchar(40) not null, owner varchar(40), state varchar(10) not null, made datetime(3), sent datetime(3), taken datetime(3), tries int not null, why text',
};
const INDEXES: Record<string, string[]> = {
  'no index': [],
  'by state and creation': ['(state, made)', '(sent)'],
  'by state alone': ['(state)', '(made)'],
};

interface Case {
  name: string;
  shape: Shape;
  table: string;
  ddl: Record<EngineKey, string[]>;
  rows: Rows;
}

const records = shapeCalled('namastack-outbox-record');
const CASES: Case[] = [
  ...Object.entries(INDEXES).map(([name, indexes], index): Case => {
    const table = `keyed_${index}`;
    const ddl = (engine: EngineKey): string[] => [
      `create table ${table} (${COLUMNS[engine]})`,
      ...indexes.map((columns, nth) => `create index ${table}_${nth} on ${table} ${columns}`),
    ];
    return { name, shape: KEYED, table, ddl: { postgres: ddl('postgres'), mysql: ddl('mysql') }, rows: keyedRows(400) };
  }),
  {
    name: 'records with a counter and an error',
    shape: records,
    table: 'outbox_record',
    ddl: { postgres: sampleOf(records).ddl.postgres ?? [], mysql: sampleOf(records).ddl.mysql ?? [] },
    rows: Array.from({ length: 200 }, (_, id) => {
      const draw = drawn(id + 1);
      const status = ['NEW', 'NEW', 'COMPLETED', 'FAILED'][draw(4)];
      const failed = status === 'FAILED' ? 3 : draw(3);
      return {
        id: `r-${id}`,
        status,
        record_key: `order-${draw(5)}`,
        record_type: TYPES[draw(TYPES.length)],
        payload: '{}',
        created_at: at(AGES[draw(AGES.length)] ?? 60, id),
        completed_at: status === 'COMPLETED' ? at(AGES[draw(8)] ?? 60) : null,
        failure_count: failed,
        failure_reason: failed > 0 ? 'no such customer' : null,
        next_retry_at: at(30),
        partition_no: 1,
        handler_id: 'h',
      };
    }),
  },
];

const fill =
  (engine: EngineKey) =>
  async (database: AnyTestDatabase): Promise<void> => {
    // Times are written without a zone and are UTC, as those of the test's MariaDB are.
    if (engine === 'postgres') await database.query(`ALTER DATABASE ${database.name} SET timezone TO 'UTC'`);
    for (const { ddl, table, rows } of CASES) {
      for (const statement of ddl[engine]) await database.query(statement);
      for (const row of rows) await insertRow(database, table, row);
    }
  };

const databases = { postgres: useTestDatabaseOf('postgres', fill('postgres')), mysql: useTestDatabaseOf('mysql', fill('mysql')) };
const compute = useCompute();
let directory: OutboxDirectory;
const idOf = (engine: EngineKey, table: string): string => `${engine}-${table.replaceAll('_', '-')}`;
beforeAll(() => {
  directory = createDirectory({
    databases: ENGINE_KEYS.map((id) => ({ id, url: databases[id].url })),
    outboxes: ENGINE_KEYS.flatMap((database) =>
      CASES.map(({ shape, table }) => testOutbox(shape, 'x', { id: idOf(database, table), inline: shape === KEYED, table, database })),
    ),
  });
});
afterAll(() => directory.close());

/** All there is but the moment, and the traces of transactions that only one engine leaves. */
function told({ figures, types, slices, tail, reach, ordered, deadDetailed }: Reading): unknown {
  const { touch: _, touchedAfter: _after, headTouch: _head, headTouchedAfter: _headAfter, ...flow } = figures.relay_stopped ?? {};
  return { types, slices, tail, reach, ordered, deadDetailed, figures: { ...figures, relay_stopped: flow } };
}

describe.each(CASES)('$name', ({ table }) => {
  test('both engines say the same', async () => {
    const [postgres, mysql] = await Promise.all(
      ENGINE_KEYS.map(async (engine) => takeReading(await directory.get(idOf(engine, table)), FOLDED_TO, compute)),
    );
    if (postgres === undefined || mysql === undefined) throw new Error('two readings');
    expect(told(mysql)).toEqual(told(postgres));
    // Neither says nothing.
    expect(postgres.types.length).toBeGreaterThan(3);
    expect(postgres.figures.depth).toMatchObject({ pending: expect.any(Number) as number });
    expect(postgres.figures.blocked_on_key?.key).not.toBeNull();
    expect(postgres.tail.size).toBeGreaterThan(0);
  });

  test('and without the history', async () => {
    const [postgres, mysql] = await Promise.all(
      ENGINE_KEYS.map(async (engine) => takeReading(await directory.get(idOf(engine, table)), null, compute)),
    );
    expect(mysql === undefined ? null : told(mysql)).toEqual(postgres === undefined ? null : told(postgres));
  });
});
