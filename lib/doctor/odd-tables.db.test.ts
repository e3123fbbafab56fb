/** Tables of other people: what is healthy there, what is not, and that each statement printed for one runs and cures. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { type Shape, type ShapeInput } from '@/lib/shape/shape';
import { defineShape } from '@/lib/shape/define';
import type { Examination } from '@/lib/shared/doctor';
import { useTestDatabase } from '@/scripts/testing/database';
import { createRoles, settingsIn } from '@/scripts/testing/outbox';
import { examineTable } from '@/fixtures/doctor';

const STATES: ShapeInput['states'] = [
  { state: 'published', when: { column: 'status', equals: 'DONE' } },
  { state: 'dead', when: { column: 'status', equals: 'FAILED' } },
  { state: 'processing', when: { column: 'status', equals: 'BUSY' } },
  { state: 'pending', when: { column: 'status', equals: 'NEW' } },
];
/** Dead is what was tried too often: nothing else sets it apart from what waits. */
const BY_TIME: ShapeInput['states'] = [
  { state: 'published', when: { column: 'sent_at', isNull: false } },
  { state: 'dead', when: { all: [{ column: 'sent_at', isNull: true }, { column: 'failed_at', isNull: false }] } },
  { state: 'pending', when: { all: [{ column: 'sent_at', isNull: true }, { column: 'failed_at', isNull: true }] } },
]; // prettier-ignore
const shapeOf = (columns: Partial<ShapeInput['columns']> = {}, states = STATES): Shape =>
  defineShape({
    key: 'inline', label: 'Own table', origin: 'nobody', engines: ['postgres'], table: 'q', states,
    columns: { id: 'id', type: 'kind', createdAt: 'made_at', publishedAt: 'sent_at', attempts: 'tries', payload: 'body', dedupKey: 'dedup', ...columns },
  }); // prettier-ignore

const table = (name = 'q', { more = '', id = 'id bigserial PRIMARY KEY', rest = '', status = 'NOT NULL' } = {}): string =>
  `CREATE TABLE {s}.${name} (${id}, kind text NOT NULL, made_at timestamptz NOT NULL DEFAULT now(), sent_at timestamptz, status text ${status} DEFAULT 'NEW', tries int NOT NULL DEFAULT 0, body text NOT NULL DEFAULT '{}', dedup text NOT NULL DEFAULT gen_random_uuid()::text${more}) ${rest}`;
const INDEXES = {
  dedup: 'CREATE UNIQUE INDEX k_dedup ON {s}.q (dedup)',
  waiting: `CREATE INDEX k_waiting ON {s}.q (made_at) WHERE status = 'NEW'`,
  processing: `CREATE INDEX k_processing ON {s}.q (made_at) WHERE status = 'BUSY'`,
  dead: `CREATE INDEX k_dead ON {s}.q (made_at, id) WHERE status = 'FAILED'`,
  published: 'CREATE INDEX k_published ON {s}.q (sent_at) WHERE sent_at IS NOT NULL',
};
const kept = (over: Partial<Record<keyof typeof INDEXES, string>> = {}): string[] =>
  Object.values({ ...INDEXES, ...over }).filter((one) => one !== '');
const fill = (rows: number, name = 'q'): string =>
  `INSERT INTO {s}.${name} (kind, made_at, sent_at, status) SELECT 'k' || i % 5, now() - (${rows} - i) * interval '50 ms', CASE WHEN i <= ${rows} - 50 THEN now() - (${rows} - i) * interval '50 ms' END,
    CASE WHEN i > ${rows} - 50 THEN 'NEW' ELSE 'DONE' END FROM generate_series(1, ${rows}) AS i`;
const COUNT = 'VACUUM (ANALYZE) {s}.q';
const ROWS = 22_000;
const well = (...more: string[]): string[] => [table(), ...kept(), fill(ROWS), COUNT, ...more];

const parted = (deep = false): string[] => [
  table('q', { id: 'id bigint GENERATED ALWAYS AS IDENTITY', more: ', PRIMARY KEY (id, made_at)', rest: 'PARTITION BY RANGE (made_at)' }),
  `CREATE TABLE {s}.q_a PARTITION OF {s}.q FOR VALUES FROM ('2000-01-01') TO ('2100-01-01')${deep ? ' PARTITION BY HASH (id)' : ''}`,
  ...(deep
    ? [0, 1].map((part) => `CREATE TABLE {s}."Q a.${part}" PARTITION OF {s}.q_a FOR VALUES WITH (MODULUS 2, REMAINDER ${part})`)
    : []),
  'CREATE TABLE {s}."q Rest" PARTITION OF {s}.q DEFAULT',
];

interface Odd {
  sql: string[];
  shape?: Shape;
  name?: string;
  /** Checks that find something; none for a healthy table. */
  finds: string[];
  /** Of these, the ones that no statement cures, or whose cure brings up the next thing to do. */
  stay?: string[];
}

const NEXT = { more: ', next_at timestamptz NOT NULL DEFAULT now()' };
const MISSING = ['index_dead', 'index_processing', 'index_published', 'index_waiting'];
const HANGUL = '주문아웃박스주문아웃박스주문아웃박스주문아';

const ODD: Record<string, Odd> = {
  'healthy: claimed by key': { sql: [table(), ...kept({ waiting: `CREATE INDEX k_waiting ON {s}.q (id) WHERE status = 'NEW'` }), fill(ROWS), COUNT], finds: [] },
  'healthy: claimed when due': { sql: [table('q', NEXT), ...kept({ waiting: `CREATE INDEX k_waiting ON {s}.q (next_at) WHERE status = 'NEW'` }), fill(ROWS), COUNT], shape: shapeOf({ availableAt: 'next_at' }), finds: [] },
  'healthy: one index for three states': { sql: [table(), ...kept({ waiting: `CREATE INDEX k_waiting ON {s}.q (status, made_at) WHERE status IN ('NEW', 'BUSY', 'FAILED')`, processing: '', dead: '' }), fill(ROWS), COUNT], finds: [] },
  'healthy: a view': { sql: [table('base'), fill(ROWS, 'base'), 'CREATE VIEW {s}.q AS SELECT * FROM {s}.base'], finds: [] },
  'healthy: restored a moment ago, rows few and wide': { sql: [table(), ...kept(), `INSERT INTO {s}.q (kind, body, status, sent_at) SELECT 'k', repeat(md5(i::text), 40), 'DONE', now() FROM generate_series(1, 4000) AS i`], finds: [] },
  'healthy: an update writes the time of the next attempt, which is how the relay claims': {
    sql: [table('q', NEXT), ...kept({ waiting: `CREATE INDEX k_waiting ON {s}.q (next_at) WHERE status = 'NEW'` }), fill(ROWS), `UPDATE {s}.q SET next_at = now(), tries = 1`, 'VACUUM (FULL, ANALYZE) {s}.q'],
    shape: shapeOf({ availableAt: 'next_at' }), finds: [],
  },
  'healthy: keys that are unique within a kind': { sql: [table(), ...kept({ dedup: 'CREATE UNIQUE INDEX k_dedup ON {s}.q (kind, dedup)' }), fill(ROWS), COUNT], finds: [] },
  'waiting by type only': { sql: [table(), ...kept({ waiting: `CREATE INDEX k_waiting ON {s}.q (kind) WHERE status = 'NEW'` }), fill(ROWS), COUNT], finds: ['index_waiting'] },
  'index in the wrong order': { sql: [table(), ...kept({ waiting: 'CREATE INDEX k_waiting ON {s}.q (made_at, status)' }), fill(ROWS), COUNT], finds: ['index_waiting'] },
  'index of too few': { sql: [table(), ...kept({ waiting: `CREATE INDEX k_waiting ON {s}.q (made_at) WHERE status = 'NEW' AND tries = 0` }), fill(ROWS), COUNT], finds: ['index_waiting'] },
  'dead rows in an index of all rows': {
    sql: [table('q', { more: ', failed_at timestamptz' }), INDEXES.dedup, 'CREATE INDEX k_waiting ON {s}.q (sent_at, made_at)', fill(ROWS), `UPDATE {s}.q SET sent_at = NULL, failed_at = now() WHERE id % 20 = 0`, COUNT],
    shape: shapeOf({ diedAt: 'failed_at' }, BY_TIME), finds: ['dead_in_waiting_index'],
  },
  'healthy: dead rows beside words in any case, which an index of the words does not lead to': {
    sql: [table(), ...kept({ waiting: 'CREATE INDEX k_waiting ON {s}.q (status, made_at)' }), fill(ROWS), `UPDATE {s}.q SET status = 'FAILED', sent_at = NULL WHERE id % 20 = 0`, 'VACUUM (FULL, ANALYZE) {s}.q'],
    shape: shapeOf({}, STATES.map((rule) => (rule.state === 'pending' ? { ...rule, when: { column: 'status', equals: 'new', ignoreCase: true } } : rule))), finds: [],
  },
  'autovacuum off in one part': { sql: [...parted(), fill(10), 'ALTER TABLE {s}."q Rest" SET (autovacuum_enabled = on)', 'ALTER TABLE {s}.q_a SET (autovacuum_enabled = off)'], finds: ['autovacuum_off', 'dedup_key'], stay: ['dedup_key'] },
  'one part that a crash empties': { sql: [...parted(), fill(10), 'ALTER TABLE {s}."q Rest" SET UNLOGGED'], finds: ['dedup_key', 'unlogged_table'], stay: ['dedup_key'] },
  'parts of parts without an index': { sql: [...parted(true), fill(ROWS), COUNT], finds: ['dedup_key', ...MISSING], stay: ['dedup_key'] },
  'parts without a unique key': { sql: [...parted(), 'ALTER TABLE {s}.q DROP CONSTRAINT q_pkey', fill(10)], finds: ['dedup_key', 'unique_id'], stay: ['dedup_key'] },
  'a counter that is an integer already': { sql: well(`UPDATE {s}.q SET tries = 2000000000 WHERE status = 'NEW'`), finds: ['counter_overflow'] },
  'states that are not there': { sql: [table('q', { status: '' }), ...kept(), fill(50_000), `UPDATE {s}.q SET status = NULL WHERE id BETWEEN 10000 AND 10900`, COUNT], finds: ['unmapped_status'], stay: ['unmapped_status'] },
  'a rare state in the middle': { sql: [table(), ...kept({ waiting: 'CREATE INDEX k_waiting ON {s}.q (status, made_at)', processing: '', dead: '' }), fill(50_000), COUNT, `UPDATE {s}.q SET status = 'PAUSED' WHERE id = 25000`], finds: ['unmapped_status'], stay: ['unmapped_status'] },
  'rows hidden by a restrictive policy': { sql: well('ALTER TABLE {s}.q ENABLE ROW LEVEL SECURITY', 'CREATE POLICY a ON {s}.q USING (true)', `CREATE POLICY b ON {s}.q AS RESTRICTIVE USING (kind <> 'k1')`), finds: ['hidden_rows'] },
  'everybody may write': { sql: well('GRANT INSERT, UPDATE, DELETE ON {s}.q TO PUBLIC'), finds: ['role_too_wide'] },
  'the reader is in a group that may write': { sql: well('GRANT ALL ON {s}.q TO {group}', 'GRANT {group} TO {reader}'), finds: ['role_too_wide'] },
  'the reader may write all data': { sql: well('GRANT pg_write_all_data TO {reader}'), finds: ['role_too_wide'] },
  'a key that is unique together with the id': { sql: [table(), ...kept({ dedup: 'CREATE UNIQUE INDEX k_dedup ON {s}.q (dedup, id)' }), fill(ROWS), COUNT], finds: ['dedup_key'] },
  'times in the future, spelled as numbers': {
    sql: [table().replace('made_at timestamptz NOT NULL DEFAULT now()', 'made_at bigint NOT NULL'), ...kept(), `INSERT INTO {s}.q (kind, made_at) SELECT 'k', extract(epoch from now() + i * interval '1 hour') * 1000 FROM generate_series(-40, 4) AS i`],
    shape: shapeOf({ createdAt: { column: 'made_at', time: 'epoch_ms' } }), finds: ['events_from_future'], stay: ['events_from_future'],
  },
  'names that fill what a name may have': { sql: [table(`"${HANGUL}"`), fill(ROWS, `"${HANGUL}"`), `ANALYZE {s}."${HANGUL}"`], name: HANGUL, finds: ['dedup_key', ...MISSING] },
  'names that others have': { sql: [table(), ...kept({ waiting: '' }), fill(ROWS), COUNT, 'CREATE TABLE {s}.q_waiting (x int)', 'CREATE VIEW {s}.q_waiting_2 AS SELECT 1 AS x'], finds: ['index_waiting'] },
}; // prettier-ignore

describe('a table of other people', () => {
  let reader: Database;
  const names = { reader: '', operator: '', group: '' };
  const database = useTestDatabase();

  beforeAll(async () => {
    const roles = await createRoles(database);
    Object.assign(names, { reader: `r_${database.name}`, operator: `o_${database.name}`, group: `g_${database.name}` });
    await database.query(`CREATE ROLE ${names.group}`);
    reader = openDatabase({ id: 'test', url: roles.reader });
  });
  afterAll(() => reader.close());

  async function make(schema: string, statements: string[]): Promise<void> {
    await database.query(`CREATE SCHEMA ${schema}; GRANT USAGE ON SCHEMA ${schema} TO ${names.reader}`);
    await database.query(`ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT ON TABLES TO ${names.reader}`);
    for (const statement of statements) {
      await database.query(statement.replaceAll('{s}', schema).replaceAll('{reader}', names.reader).replaceAll('{group}', names.group));
      // A session tells its counts a second later, unless it is told to.
      await database.query('SELECT pg_stat_force_next_flush()');
    }
    await database.query('SELECT 1');
  }
  const checksOf = ({ findings }: Examination): string[] => [...new Set(findings.map(({ check }) => check))].sort();
  const examine = (schema: string, { shape = shapeOf(), name = 'q' }: Pick<Odd, 'shape' | 'name'>): Promise<Examination> =>
    examineTable(reader, settingsIn(shape, schema, { id: 'q', inline: true, table: { schema, table: name } }));

  it.each(Object.entries(ODD))('%s', async (title, odd) => {
    const schema = `s_${title.replace(/\W+/g, '_').toLowerCase().slice(0, 40)}`;
    await make(schema, odd.sql);
    const before = await examine(schema, odd);
    expect(checksOf(before)).toEqual([...odd.finds].sort());
    for (const { cure } of before.findings) for (const statement of cure?.split('\n') ?? []) await database.query(statement);
    await database.query('SELECT pg_stat_force_next_flush()');
    await database.query('SELECT 1');
    const stay = odd.stay ?? [];
    await expect.poll(async () => checksOf(await examine(schema, odd)).filter((check) => !stay.includes(check))).toEqual([]);
  });

  it('old_snapshot: a transaction of seconds, once vacuum has come and had to leave what it keeps', async () => {
    const schema = 'in_vain';
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await make(schema, well());
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder.query('SELECT 1');
    await database.query(`GRANT pg_read_all_stats TO ${names.reader}`);
    expect(checksOf(await examine(schema, {}))).toEqual([]);
    // The time of a vacuum is told to the second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await database.query(`UPDATE ${schema}.q SET body = 'new'`);
    await database.query('SELECT pg_stat_force_next_flush()');
    await database.query(`VACUUM (ANALYZE) ${schema}.q`);
    await database.query('SELECT 1');
    const [finding] = (await examine(schema, {})).findings.filter(({ check }) => check === 'old_snapshot');
    await holder.end();
    expect(finding?.values).toMatchObject({ kind: 'session', user: 'postgres', deadRows: ROWS });
  });
});
