/** Columns that the database computes may have any role: the archive keeps their values, and reads without what computed them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archiveTable } from '@/lib/outbox/companions';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { quotedName } from '@/lib/outbox/outbox';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { mapping, told } from '@/fixtures/mapping';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';
import { prove } from '@/lib/proving/prove';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { openProven, useTestDatabaseOf, type ProvenOutbox } from '@/scripts/testing/outbox';
import { applyInstall } from './install/install';
import { intervene } from './intervene';

const TABLE = {
  postgres: `CREATE TABLE price_feed (k bigserial PRIMARY KEY, doc jsonb NOT NULL, made_us bigint NOT NULL, out_us bigint,
    sku varchar(20) GENERATED ALWAYS AS (doc->>'sku') STORED, kind text GENERATED ALWAYS AS (doc->>'kind') STORED,
    st text GENERATED ALWAYS AS (doc->>'st') STORED NOT NULL, made timestamptz GENERATED ALWAYS AS (to_timestamp(made_us / 1000000.0)) STORED)`,
  mysql: `CREATE TABLE price_feed (k bigint AUTO_INCREMENT PRIMARY KEY, doc json NOT NULL, made_us bigint NOT NULL, out_us bigint,
    sku varchar(20) AS (json_unquote(json_extract(doc, '$.sku'))) VIRTUAL, kind varchar(20) AS (json_unquote(json_extract(doc, '$.kind'))) STORED,
    st varchar(20) AS (json_unquote(json_extract(doc, '$.st'))) STORED, made bigint AS (made_us DIV 1000) VIRTUAL)`,
};

describe.each(ENGINE_KEYS)('generated columns with roles on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    await db.query(TABLE[engine]);
    for (const n of [1, 2, 3])
      await db.query(
        `INSERT INTO price_feed (doc, made_us) VALUES ('{"sku":"S${String(n)}","kind":"price","st":"new"}', 1767225600000000)`,
      );
    await db.query(`INSERT INTO price_feed (doc, made_us, out_us) VALUES ('{"sku":"S9","kind":"price","st":"out"}', 1, 2)`);
  });
  const shape = mapping({
    engines: [...ENGINE_KEYS],
    table: 'price_feed',
    columns: {
      id: 'k',
      type: 'kind',
      aggregateId: 'sku',
      payload: 'doc',
      createdAt: engine === 'postgres' ? 'made' : { column: 'made', time: 'epoch_ms' },
    },
    states: [
      { state: 'published', when: { column: 'st', equals: 'out' } },
      { state: 'pending', when: { column: 'st', equals: 'new' } },
    ],
    archive: { from: ['pending'] },
  });
  let open: ProvenOutbox;
  beforeAll(async () => {
    open = await openProven(database, shape, { inline: true });
  });
  afterAll(() => open.close());
  const act = async (operation: string, id: string) => {
    const version = (await getEvent(open.outbox, id))?.event.version ?? '';
    const asked = { operation, events: [{ id, version }], reason: 'what is kept' };
    return intervene(depsFor(open.outbox, open.known), ANNA, 'sample', asked, freshKey());
  };
  const drop = (name: string) =>
    database.query(
      `ALTER TABLE ${quotedName(open.outbox.database.engine, archiveTable(open.outbox.database.engine, open.outbox.id))} DROP COLUMN ${name}`,
    );

  it('are proven to be archived and restored', async () => {
    const document = await prove(open.outbox, { events: [], actor: 'test' });
    expect(told(document)).toEqual(['archive pending round_trips', 'restore archived untried no_row']);
  });

  it('keep their values in the archive, and are computed anew once restored', async () => {
    const known = { type: 'price', aggregateId: 'S1', createdAt: '2026-01-01T00:00:00.000000Z' };
    expect((await getEvent(open.outbox, '1'))?.event).toMatchObject(known);
    const before = await database.query('SELECT * FROM price_feed WHERE k = 1');
    expect(await act('archive', '1')).toMatchObject({ outcome: 'applied', changed: ['1'] });
    expect((await getEvent(open.outbox, '1'))?.event).toMatchObject({ ...known, state: 'archived' });
    const { events } = await listEvents(open.outbox, { state: ['archived'], aggregate: 'S1' }, { limit: 5 });
    expect(events).toMatchObject([{ id: '1', ...known }]);
    expect(await act('restore', '1')).toMatchObject({ outcome: 'applied', changed: ['1'] });
    expect(await database.query('SELECT * FROM price_feed WHERE k = 1')).toEqual(before);
  });

  it('are unknown in an archive made without them, which is read on, and named before a proof until it is installed again', async () => {
    await act('archive', '2');
    for (const name of ['sku', 'kind', 'st', 'made']) await drop(name);
    const behind = await open.rebind();
    expect(behind.whyReadOnly).toBe('mapping_not_proven');
    expect((await getEvent(behind, '2'))?.event).toMatchObject({ state: 'archived', type: null, aggregateId: null });
    expect((await listEvents(behind, { state: ['archived'] }, { limit: 5 })).events).toMatchObject([{ id: '2', type: null }]);
    await expect(prove(behind, { events: [], actor: 'test' })).rejects.toThrow(/companions_out_of_date.*install sample again/);
    await applyInstall(behind, database.url);
    expect(told(await prove(await open.rebind(), { events: [], actor: 'test' }))).toContain('archive pending round_trips');
  });
});
