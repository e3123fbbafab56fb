/** What the change of one row undoes of another row that was changed and read back before it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { defineShape } from '@/lib/shape/define';
import type { EngineKey } from '@/lib/shared/model';
import { openProven, useTestDatabaseOf, type ProvenOutbox } from '@/scripts/testing/outbox';
import { intervene } from './intervene';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';

const SHAPE = defineShape({
  key: 'parcels',
  label: 'parcels',
  origin: 'test',
  engines: ['postgres', 'mysql'],
  table: 'parcels',
  columns: { id: 'id', type: 'kind', payload: 'body', attempts: 'tries', createdAt: 'made_at' },
  dead: { table: 'parcels_failed', columns: { id: 'id', error: 'reason' } },
  states: [
    { state: 'dead', when: { column: 'tries', atLeast: 5 } },
    { state: 'retrying', when: { column: 'tries', above: 0 } },
    { state: 'pending', when: { always: true } },
  ],
  operations: {
    retry: [
      { from: ['dead'], version: 'exact', set: { tries: { value: 4 } } },
      { from: ['retrying'], version: 'exact', set: { tries: { value: 1 } } },
    ],
  },
  archive: { from: ['dead', 'retrying'] },
});

const trigger = (timing: string, event: string, body: string, deferred = false): string[] => [
  `CREATE FUNCTION undoing() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN ${body} RETURN NEW; END $$`,
  `CREATE ${deferred ? 'CONSTRAINT ' : ''}TRIGGER undoing ${timing} ${event} ${deferred ? 'DEFERRABLE INITIALLY DEFERRED ' : ''}FOR EACH ROW EXECUTE FUNCTION undoing()`,
];
const PUT_BACK = `INSERT INTO parcels (id, kind, body, tries, made_at) SELECT 2, 'mail', '{}', 6, '2026-01-01' FROM (SELECT 1 AS n) one
  WHERE NOT EXISTS (SELECT 1 FROM there WHERE id = 2)`;

interface Case {
  what: string;
  engine: EngineKey;
  operation: 'retry' | 'archive';
  because: string;
  ddl: string[];
  /** Beside event 2. */
  skipped?: Record<string, string>;
}

/** Events 1 to 6 are dead, 7 to 9 retrying; for an archive the last three stand in the table of dead ones. Event 2 is the one. */
const CASES: Case[] = [
  {
    what: 'a later step’s trigger',
    engine: 'postgres',
    operation: 'retry',
    because: 'rewritten',
    ddl: trigger('AFTER', 'UPDATE ON parcels', 'IF OLD.id = 9 THEN UPDATE parcels SET tries = 6 WHERE id = 2; END IF;'),
  },
  {
    what: 'a later step’s trigger that waits for the commit',
    engine: 'postgres',
    operation: 'retry',
    because: 'rewritten',
    ddl: trigger('AFTER', 'UPDATE ON parcels', 'IF OLD.id = 9 THEN UPDATE parcels SET tries = 6 WHERE id = 2; END IF;', true),
  },
  {
    what: 'the trigger of a row that went by itself, as the table refuses another',
    engine: 'postgres',
    operation: 'retry',
    because: 'rewritten',
    ddl: trigger(
      'BEFORE',
      'UPDATE ON parcels',
      `IF OLD.id = 3 THEN RAISE EXCEPTION 'not this one'; END IF; IF OLD.id = 1 THEN UPDATE parcels SET tries = 6 WHERE id = 2 AND tries < 6; END IF;`,
    ),
    skipped: { '3': 'not_supported' },
  },
  {
    what: 'a later step’s trigger on another table',
    engine: 'postgres',
    operation: 'archive',
    because: 'in_two_tables',
    ddl: trigger('AFTER', 'DELETE ON parcels_failed', `IF OLD.id = 9 THEN ${PUT_BACK.replace('there', 'parcels')}; END IF;`),
  },
  {
    what: 'a later step’s trigger on another table',
    engine: 'mysql',
    operation: 'archive',
    because: 'in_two_tables',
    ddl: [
      `CREATE TRIGGER undoing AFTER DELETE ON parcels_failed FOR EACH ROW BEGIN IF OLD.id = 9 THEN ${PUT_BACK.replace('there', 'parcels')}; END IF; END`,
    ],
  },
];

describe.each(CASES)('on $engine, $what that undoes what was read back before', ({ engine, operation, because, ddl, skipped = {} }) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    const columns = `id bigint PRIMARY KEY, kind varchar(20) NOT NULL, body varchar(200) NOT NULL, tries int NOT NULL, made_at ${engine === 'postgres' ? 'timestamptz' : 'datetime'} NOT NULL`;
    await db.query(`CREATE TABLE parcels (${columns})`);
    await db.query(`CREATE TABLE parcels_failed (${columns}, reason varchar(50))`);
    for (let id = 1; id <= 9; id += 1) {
      const table = operation === 'archive' && id > 6 ? 'parcels_failed' : 'parcels';
      await db.query(`INSERT INTO ${table} (id, kind, body, tries, made_at) VALUES (${id}, 'mail', '{}', ${id > 6 ? 2 : 6}, '2026-01-01')`);
    }
    for (const statement of ddl) await db.query(statement);
  });
  let open: ProvenOutbox;
  beforeAll(async () => {
    open = await openProven(database, SHAPE);
  });
  afterAll(() => open.close());

  it('leaves that one as it was, says so, and changes the others', async () => {
    const seen = (await listEvents(open.outbox, { state: ['dead', 'retrying'] }, { limit: 20 })).events;
    expect(seen).toHaveLength(9);
    const request = { operation, events: seen.map(({ id, version }) => ({ id, version })), reason: 'all of them' };
    const result = await intervene(depsFor(open.outbox, open.known), ANNA, 'sample', request, freshKey());
    const wanted = { '2': 'did_not_take', ...skipped };
    expect(Object.fromEntries(result.skipped.map(({ id, code }) => [id, code]))).toEqual(wanted);
    expect(result.skipped.find(({ id }) => id === '2')).toMatchObject({ detail: { because } });
    expect(result.changed).toHaveLength(9 - Object.keys(wanted).length);
    const left = await database.query<{ id: unknown; tries: unknown }>('SELECT id, tries FROM parcels WHERE tries = 6 ORDER BY id');
    expect(left.map(({ id }) => String(id))).toEqual(Object.keys(wanted));
    const records = await database.query<{ event_id: string }>(
      `SELECT event_id FROM ${engine === 'postgres' ? 'outbox_console.' : 'outbox_console_'}intervention_event WHERE code IS NULL`,
    );
    expect(records.map(({ event_id: id }) => id).sort()).toEqual([...result.changed].sort());
  });
});
