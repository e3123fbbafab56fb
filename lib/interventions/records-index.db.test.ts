/** The records as a version counts in them: by an index, under the names of its table, and what there is without one. */
import type { ShapeSample } from '@/fixtures/sample';
import { workerStatusSample } from '@/fixtures/shapes/worker-status';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examineOutbox } from '@/lib/doctor/examine';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { createDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import { decodeVersion } from '@/lib/outbox/rows/version';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import { createSample, openSample, useTestDatabaseOf, type OpenOutbox } from '@/scripts/testing/outbox';
import { applyInstall, installStatements } from './install/install';
import { intervene } from './intervene';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';
import { ENGINE_KEYS } from '@/lib/shared/model';

describe.each(ENGINE_KEYS)('records on %s', (engine) => {
  const database = useTestDatabaseOf(engine, (made) => createSample(made, workerStatus));
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, workerStatus);
  });
  afterAll(() => open.close());

  const lines = engine === 'postgres' ? 'outbox_console.intervention_event' : 'outbox_console_intervention_event';
  const archive = async (outbox: Outbox) =>
    intervene(
      depsFor(outbox),
      ANNA,
      'sample',
      { operation: 'archive', events: [{ id: '1', version: (await getEvent(outbox, '1'))?.event.version ?? '' }], reason: 'old' },
      freshKey(),
    );
  const withoutIndex = async (): Promise<Outbox> => {
    await database.query(
      engine === 'postgres' ? 'DROP INDEX outbox_console.intervention_event_event' : `DROP INDEX intervention_event_event ON ${lines}`,
    );
    return open.rebind();
  };
  const indexed = async (): Promise<boolean> =>
    (await installStatements(await open.rebind())).every(({ sql }) => !sql.startsWith('CREATE INDEX intervention_event'));

  it('without their index make an outbox read-only, and the doctor prints the line', async () => {
    const outbox = await withoutIndex();
    expect(outbox).toMatchObject({ whyReadOnly: 'reinstall_needed' });
    await expect(archive(outbox)).rejects.toMatchObject({ code: 'read_only', because: 'reinstall_needed' });
    expect((await listEvents(outbox, {}, { limit: 50 })).events).toHaveLength(6);
    const { examination } = await examineOutbox(outbox, []);
    const finding = examination.findings.find(({ check }) => check === 'records_index');
    expect(finding).toMatchObject({ severity: 'act', cure: expect.stringMatching(/^CREATE INDEX .*event_id.*;$/) as string });
    await database.query(finding?.cure ?? '');
    const cured = await open.rebind();
    expect(cured).toMatchObject({ whyReadOnly: null });
    expect((await examineOutbox(cured, [])).examination.findings.map(({ check }) => check)).not.toContain('records_index');
    expect(await indexed()).toBe(true);
  });

  it('of an earlier installation have it after another one, and versions that were read before are old', async () => {
    const outbox = await withoutIndex();
    const before = (await getEvent(outbox, '1'))?.event.version ?? '';
    await applyInstall(outbox, database.url);
    const again = await open.rebind();
    expect(again).toMatchObject({ whyReadOnly: null });
    const stale = await intervene(
      depsFor(again),
      ANNA,
      'sample',
      { operation: 'archive', events: [{ id: '1', version: before }], reason: 'old' },
      freshKey(),
    );
    expect(stale.skipped).toMatchObject([{ id: '1', code: 'changed_since_seen' }]);
    expect((await archive(again)).outcome).toBe('applied');
  });

  it('that the reader may not see leave everything to be read and nothing to be changed', async () => {
    const role = `r_${database.name}`;
    const account = engine === 'postgres' ? role : `${role}@'%'`;
    await database.query(`REVOKE SELECT ON ${lines} FROM ${account}`);
    const outbox = await open.rebind();
    expect(outbox.whyReadOnly).not.toBeNull();
    expect((await listEvents(outbox, {}, { limit: 50 })).events.length).toBeGreaterThan(0);
    expect((await getEvent(outbox, '2'))?.event.state).toBe('pending');
    await expect(archive(outbox)).rejects.toMatchObject({ code: 'read_only' });
    await database.query(`GRANT SELECT ON ${lines} TO ${account}`);
    expect((await open.rebind()).whyReadOnly).toBeNull();
  });

  /** The sample's outbox, and others of its shape on these tables, by their ids; what is asked is how often event 2 was touched. */
  async function withOutboxes(
    tables: Record<string, string>,
    use: (touched: (id: string) => Promise<number>) => Promise<void>,
  ): Promise<void> {
    const login = (name: string): string => database.urlFor(`${name}_${database.name}`, 'test');
    for (const grantee of ['r', 'o'])
      for (const table of Object.values(tables))
        await database.query(`GRANT SELECT ON ${table} TO ${grantee}_${database.name}${engine === 'postgres' ? '' : "@'%'"}`);
    const { settings } = open.outbox;
    const directory = createDirectory({
      databases: [{ id: 'test', url: login('r'), operatorUrl: login('o') }],
      outboxes: Object.entries(tables).map(([id, table]) => ({
        ...settings,
        id,
        table: table === 'outbox_events' && id !== 'sample' ? 'OutboxEvents' : table,
        database: 'test',
      })),
    });
    try {
      await use(async (id) => decodeVersion((await getEvent(await directory.get(id), '2'))?.event.version ?? '')?.touched ?? NaN);
    } finally {
      await directory.close();
    }
  }

  it.each([
    ['as the console writes lines', true],
    ['as it wrote them once, without the name', false],
  ])('count what was done under other names of the same table, and not what was done to another table: %s', async (_, named) => {
    await database.query('DROP TABLE IF EXISTS other_events');
    await createSample(database, workerStatus, { sample: renamed(workerStatusSample) });
    await withOutboxes({ sample: 'outbox_events', twin: 'outbox_events', other: 'other_events' }, async (touched) => {
      const before = { sample: await touched('sample'), twin: await touched('twin'), other: await touched('other') };
      expect(before.sample).toBe(before.twin);
      await record('twin', '2', named);
      await record('other', '2', named);
      await record('other', '2', named);
      // A name that the configuration no longer has may have been any table's.
      await record('renamed', '2', named);
      expect(await touched('sample')).toBe(before.sample + 2);
      expect(await touched('twin')).toBe(before.twin + 2);
      expect(await touched('other')).toBe(before.other + 3);
    });
  });

  it('that an intervention writes name the outbox, and whether the event was dead', async () => {
    const outbox = await open.rebind();
    const version = (await getEvent(outbox, '2'))?.event.version ?? '';
    const request = { operation: 'archive', events: [{ id: '2', version }], reason: 'old' };
    const { interventionId, changed } = await intervene(depsFor(outbox), ANNA, 'sample', request, freshKey());
    expect(changed).toEqual(['2']);
    const [line] = await database.query<{ detail: unknown }>(`SELECT detail FROM ${lines} WHERE intervention_id = '${interventionId}'`);
    const detail = line?.detail;
    expect(typeof detail === 'string' ? JSON.parse(detail) : detail).toEqual({ outbox: 'sample', dead: false });
  });

  // Partitions of MySQL have no names of their own.
  if (engine === 'postgres')
    it('count what was done to the same row by the name of its partition, or of what that is a part of', async () => {
      await database.query(
        `CREATE TABLE whole (LIKE outbox_events INCLUDING DEFAULTS) PARTITION BY HASH (id); ALTER TABLE whole ADD PRIMARY KEY (id)`,
      );
      await database.query(`CREATE TABLE half PARTITION OF whole FOR VALUES WITH (MODULUS 1, REMAINDER 0) PARTITION BY HASH (id);
      CREATE TABLE quarter PARTITION OF half FOR VALUES WITH (MODULUS 1, REMAINDER 0)`);
      await database.query(`INSERT INTO whole (id, event_type, payload) VALUES (2, 'order.paid', '{}')`);
      await withOutboxes({ 'of-whole': 'whole', 'of-quarter': 'quarter', sample: 'outbox_events' }, async (touched) => {
        const before = { whole: await touched('of-whole'), quarter: await touched('of-quarter') };
        await record('of-whole', '2', true);
        await record('of-quarter', '2', true);
        await record('sample', '2', true);
        expect({ whole: await touched('of-whole'), quarter: await touched('of-quarter') }).toEqual({
          whole: before.whole + 2,
          quarter: before.quarter + 2,
        });
      });
    });

  const key = engine === 'postgres' ? '"key"' : '`key`';
  async function record(outbox: string, event: string, named: boolean): Promise<void> {
    const id = freshKey();
    await database.query(`INSERT INTO ${lines.replace('_event', '')} (id, outbox, actor_id, actor_name, actor_role, ${key}, request_hash, operation, reason)
      VALUES ('${id}', '${outbox}', 'x', 'x', 'operator', '${id}', 'x', 'archive', 'x')`);
    await database.query(
      `INSERT INTO ${lines} (intervention_id, position, event_id, code, detail) VALUES ('${id}', 0, '${event}', NULL, ${named ? `'{"outbox": "${outbox}"}'` : 'NULL'}), ('${id}', 1, '${event}', 'locked', NULL)`,
    );
    await database.query(`UPDATE ${lines.replace('_event', '')} SET outcome = 'partly' WHERE id = '${id}'`);
  }
});

/** The same sample under another name. */
function renamed(sample: ShapeSample): ShapeSample {
  return JSON.parse(
    JSON.stringify({ ...sample, table: { postgres: 'other_events', mysql: 'other_events' } }).replaceAll('outbox_events', 'other_events'),
  ) as ShapeSample;
}
