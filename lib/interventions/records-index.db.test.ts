/** The records as a version counts in them: by an index, under the names of its table, and what there is without one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examineOutbox } from '@/lib/doctor/examine';
import { listEvents } from '@/lib/outbox/list-events';
import { getEvent } from '@/lib/outbox/get-event';
import { createDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Shape } from '@/lib/outbox/shape';
import { decodeVersion } from '@/lib/outbox/version';
import { workerStatus } from '@/lib/outbox/shapes/worker-status';
import { createSample, openSample, useTestDatabaseOf, type OpenOutbox } from '@/scripts/testing/outbox';
import { applyInstall, installStatements } from './install';
import { intervene } from './intervene';
import { ANNA, depsFor, freshKey } from './testing';

describe.each(['postgres', 'mysql'] as const)('records on %s', (engine) => {
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
    expect(outbox).toMatchObject({ writable: false, whyReadOnly: 'reinstall_needed' });
    await expect(archive(outbox)).rejects.toMatchObject({ code: 'read_only', because: 'reinstall_needed' });
    expect((await listEvents(outbox, {}, { limit: 50 })).events).toHaveLength(6);
    const { examination } = await examineOutbox(outbox, { samples: [] });
    const finding = examination.findings.find(({ check }) => check === 'records_index');
    expect(finding).toMatchObject({ severity: 'act', cure: expect.stringMatching(/^CREATE INDEX .*event_id.*;$/) as string });
    await database.query(finding?.cure ?? '');
    const cured = await open.rebind();
    expect(cured).toMatchObject({ writable: true, whyReadOnly: null });
    expect((await examineOutbox(cured, { samples: [] })).examination.findings.map(({ check }) => check)).not.toContain('records_index');
    expect(await indexed()).toBe(true);
  });

  it('of an earlier installation have it after another one, and versions that were read before are old', async () => {
    const outbox = await withoutIndex();
    const before = (await getEvent(outbox, '1'))?.event.version ?? '';
    await applyInstall(outbox, database.url);
    const again = await open.rebind();
    expect(again).toMatchObject({ writable: true, whyReadOnly: null });
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
    expect(outbox.writable).toBe(false);
    expect((await listEvents(outbox, {}, { limit: 50 })).events.length).toBeGreaterThan(0);
    expect((await getEvent(outbox, '2'))?.event.state).toBe('pending');
    await expect(archive(outbox)).rejects.toMatchObject({ code: 'read_only' });
    await database.query(`GRANT SELECT ON ${lines} TO ${account}`);
    expect((await open.rebind()).writable).toBe(true);
  });

  it('count what was done under other names of the same table, and not what was done to another table', async () => {
    await createSample(database, { ...workerStatus, sample: renamed(workerStatus.sample) });
    const { outbox } = open;
    const login = (name: string): string => database.urlFor(`${name}_${database.name}`, 'test');
    for (const grantee of ['r', 'o'])
      await database.query(`GRANT SELECT ON other_events TO ${grantee}_${database.name}${engine === 'postgres' ? '' : "@'%'"}`);
    const named = (id: string, table: string) => ({ ...outbox.settings, id, table, database: 'test' });
    const directory = createDirectory({
      databases: [{ id: 'test', url: login('r'), operatorUrl: login('o') }],
      outboxes: [named('sample', 'outbox_events'), named('twin', 'OutboxEvents'), named('other', 'other_events')],
    });
    try {
      const touched = async (id: string): Promise<number | null | undefined> =>
        decodeVersion((await getEvent(await directory.get(id), '2'))?.event.version ?? '')?.touched;
      const before = { sample: await touched('sample'), twin: await touched('twin'), other: await touched('other') };
      expect(before.sample).toBe(before.twin);
      await record('twin', '2');
      await record('other', '2');
      await record('other', '2');
      // A name that the configuration no longer has may have been any table's.
      await record('renamed', '2');
      expect(await touched('sample')).toBe((before.sample ?? 0) + 2);
      expect(await touched('twin')).toBe((before.twin ?? 0) + 2);
      expect(await touched('other')).toBe((before.other ?? 0) + 3);
    } finally {
      await directory.close();
    }
  });

  const key = engine === 'postgres' ? '"key"' : '`key`';
  async function record(outbox: string, event: string): Promise<void> {
    const id = freshKey();
    await database.query(`INSERT INTO ${lines.replace('_event', '')} (id, outbox, actor_id, actor_name, actor_role, ${key}, request_hash, operation, reason)
      VALUES ('${id}', '${outbox}', 'x', 'x', 'operator', '${id}', 'x', 'archive', 'x')`);
    await database.query(
      `INSERT INTO ${lines} (intervention_id, position, event_id, code) VALUES ('${id}', 0, '${event}', NULL), ('${id}', 1, '${event}', 'locked')`,
    );
    await database.query(`UPDATE ${lines.replace('_event', '')} SET outcome = 'partly' WHERE id = '${id}'`);
  }
});

/** The same sample under another name. */
function renamed(sample: Shape['sample']): Shape['sample'] {
  return JSON.parse(
    JSON.stringify({ ...sample, table: { postgres: 'other_events', mysql: 'other_events' } }).replaceAll('outbox_events', 'other_events'),
  ) as Shape['sample'];
}
