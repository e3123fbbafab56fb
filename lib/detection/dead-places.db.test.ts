/** Where dead events lie: in a state, in a table beside the outbox, in both, in several. None is counted twice. */
import { describe, expect, it } from 'vitest';
import { ENGINE_KEYS } from '@/lib/shared/model';
import type { Examination } from '@/lib/shared/detection';
import { useOpened } from '@/scripts/testing/inline';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { examineTable } from './detect';

const EVENT = 'event_type varchar(40) NOT NULL, payload json NOT NULL, created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP';
const MARKED = `id int PRIMARY KEY, ${EVENT}, status varchar(9) NOT NULL`;
const MOVED = `id int PRIMARY KEY, ${EVENT}, reason varchar(99)`;

const numbered = (from: number, to: number, values: string): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `(${from + at}, ${values})`).join(', ');

const STATEMENTS = [
  // A relay that marks the row and keeps a copy for support.
  `CREATE TABLE copied_outbox (${MARKED})`,
  `CREATE TABLE copied_outbox_dead (${MOVED})`,
  ...[1, 2, 3].map((id) => `INSERT INTO copied_outbox (id, event_type, payload, status) VALUES (${id}, 'a', '{}', 'DEAD')`),
  ...[1, 2, 3].map((id) => `INSERT INTO copied_outbox_dead (id, event_type, payload) VALUES (${id}, 'a', '{}')`),
  "INSERT INTO copied_outbox (id, event_type, payload, status) VALUES (4, 'a', '{}', 'NEW')",
  // One that moves it, of which one was sent again by hand.
  `CREATE TABLE moved_outbox (${MARKED})`,
  `CREATE TABLE moved_outbox_dlq (${MOVED})`,
  "INSERT INTO moved_outbox (id, event_type, payload, status) VALUES (3, 'a', '{}', 'NEW')",
  ...[1, 2, 3].map((id) => `INSERT INTO moved_outbox_dlq (id, event_type, payload) VALUES (${id}, 'a', '{}')`),
  // Dead letters with a number of their own beside the id of the event.
  `CREATE TABLE numbered_outbox (${MARKED})`,
  `CREATE TABLE numbered_outbox_dead (id int PRIMARY KEY, outbox_id int NOT NULL, ${EVENT})`,
  "INSERT INTO numbered_outbox (id, event_type, payload, status) VALUES (1, 'a', '{}', 'SENT')",
  "INSERT INTO numbered_outbox_dead (id, outbox_id, event_type, payload) VALUES (1, 71, 'a', '{}')",
  // Copies in one table, moved ones in another, and one that cannot be matched.
  `CREATE TABLE several_outbox (${MARKED})`,
  `CREATE TABLE several_outbox_dead (${MOVED})`,
  `CREATE TABLE several_outbox_failed (${MOVED})`,
  `CREATE TABLE several_outbox_rejected (nr int PRIMARY KEY, ${EVENT}, status varchar(9))`,
  "INSERT INTO several_outbox (id, event_type, payload, status) VALUES (1, 'a', '{}', 'DEAD')",
  "INSERT INTO several_outbox_dead (id, event_type, payload) VALUES (1, 'a', '{}')",
  "INSERT INTO several_outbox_failed (id, event_type, payload) VALUES (2, 'a', '{}')",
  // Copies that outlive their events.
  `CREATE TABLE purged_outbox (${MARKED})`,
  `CREATE TABLE purged_outbox_dead (${MOVED})`,
  `INSERT INTO purged_outbox_dead (id, event_type, payload) VALUES ${numbered(1, 232, "'a', '{}'")}`,
  `INSERT INTO purged_outbox (id, event_type, payload, status) VALUES ${numbered(41, 232, "'a', '{}', 'DEAD'")}`,
];

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    for (const statement of STATEMENTS) await db.query(statement);
  });
  const opened = useOpened(database);
  const schema = (): string => (engine === 'postgres' ? 'public' : database.name);
  const look = (table: string): Promise<Examination> =>
    examineTable(opened(), { schema: schema(), table }, {}, { database: opened().id, taken: [], rows: 10, confirmed: {} });
  const seen = ({ sample }: Examination): string[] => (sample?.rows ?? []).map(({ event }) => `${event.id} ${event.state}`).sort();
  const cautions = ({ candidate }: Examination): [string, unknown][] =>
    candidate.cautions.filter(({ code }) => code.startsWith('dead')).map(({ code, values }) => [code, Object.values(values)[0]]);

  it('a table of copies is left out of the lines', async () => {
    const examined = await look('copied_outbox');
    expect(examined.problem).toBeNull();
    expect(seen(examined)).toEqual(['1 dead', '2 dead', '3 dead', '4 pending']);
    expect(examined.yaml).not.toContain('dead:');
    expect(cautions(examined)).toEqual([['dead_copies', 'copied_outbox_dead']]);
    expect(examined.candidate.companions).toEqual([{ table: `${schema()}.copied_outbox_dead`, purpose: 'other' }]);
  });

  it('copies are told by the newest, where the events of the oldest are gone', async () => {
    const examined = await look('purged_outbox');
    expect(examined.yaml).not.toContain('dead:');
    expect(cautions(examined)).toEqual([['dead_copies', 'purged_outbox_dead']]);
    expect(seen(examined)).toHaveLength(10);
  });

  if (engine === 'postgres')
    it('a table of copies is none of a built-in layout either', async () => {
      const columns = `id uuid PRIMARY KEY, aggregate_type text NOT NULL, aggregate_id text NOT NULL, event_type text NOT NULL, payload jsonb NOT NULL,
        headers jsonb, dedup_key text, created_at timestamptz NOT NULL, published_at timestamptz, attempt int NOT NULL`;
      await database.query(`CREATE SCHEMA layout; CREATE TABLE layout.outbox_events (${columns});
        CREATE TABLE layout.outbox_dead (${columns}, died_at timestamptz, last_error text);
        INSERT INTO layout.outbox_events SELECT gen_random_uuid(), 'order', '1', 'a', '{}', '{}', 'k', now(), NULL, 10 FROM generate_series(1, 5);
        INSERT INTO layout.outbox_dead SELECT *, now(), 'no route' FROM layout.outbox_events`);
      const at = { schema: 'layout', table: 'outbox_events' };
      const examine = () => examineTable(opened(), at, {}, { database: opened().id, taken: [], rows: 10, confirmed: {} });
      const copied = await examine();
      expect(copied.problem).toBeNull();
      expect(cautions(copied)).toEqual([['dead_copies', 'outbox_dead']]);
      expect(seen(copied).map((one) => one.split(' ')[1])).toEqual(Array(5).fill('retrying'));
      await database.query('DELETE FROM layout.outbox_events');
      const moved = await examine();
      expect([moved.candidate.shape, cautions(moved), seen(moved).length]).toEqual(['published-at', [], 5]);
    });

  it('a table they are moved to is read, though one of them was put back', async () => {
    const examined = await look('moved_outbox');
    expect(examined.problem).toBeNull();
    expect(seen(examined)).toEqual(['1 dead', '2 dead', '3 dead', '3 pending']);
    expect(cautions(examined)).toEqual([]);
  });

  it('dead letters keep the id of their event, whatever they are numbered by', async () => {
    const examined = await look('numbered_outbox');
    expect(examined.problem).toBeNull();
    expect(examined.yaml).toMatch(/dead:\n\s+table: numbered_outbox_dead.*\n\s+columns:\n\s+id: outbox_id\n/);
    expect(seen(examined)).toEqual(['1 published', '71 dead']);
  });

  it('of several tables the one that they are moved to is read, and the others are named', async () => {
    const examined = await look('several_outbox');
    expect(examined.problem).toBeNull();
    expect(seen(examined)).toEqual(['1 dead', '2 dead']);
    expect(examined.yaml).toMatch(/dead:\n\s+table: several_outbox_failed # confirm/);
    expect(cautions(examined)).toEqual([
      ['dead_copies', 'several_outbox_dead'],
      ['dead_others', `${schema()}.several_outbox_rejected`],
    ]);
  });
});
