/** An outbox that nobody has proven cannot be changed through any door, says why, and can be once it is proven and turned on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { applyInstall, bindForInstall } from '@/lib/interventions/install/install';
import { MINE, MINE_DDL, mapping } from '@/fixtures/mapping';
import { getConsole } from '@/lib/server/console';
import { useTestConsole } from '@/scripts/testing/console';
import type { InterventionResult } from '@/lib/shared/model';
import type { ProofStatus } from '@/lib/shared/changes/proofs';
import { useTestDatabase } from '@/scripts/testing/database';
import { createRoles, settingsFor } from '@/scripts/testing/outbox';
import { GET as getEvent } from '../events/[event]/route';
import { POST as intervene } from '../interventions/route';
import { PUT as turn } from '../changes/route';
import { GET as audit } from '../../../audit/route';
import { GET as outboxes } from '../../route';
import { GET as status, POST as prove } from './route';

const params = { outbox: 'mine' };
const store = useTestDatabase();
const observed = useTestDatabase(async (db) => {
  await db.query(MINE_DDL);
  await db.query(`INSERT INTO mine (kind, body, state, tries, key) SELECT 'mail', '{}', 3, 9, 'k' || i FROM generate_series(1, 9) AS i`);
});

const roles = { reader: '', operator: '' };
const yaml = (): string =>
  `databases:
  shop: { url: "${roles.reader}", operatorUrl: "${roles.operator}" }
outboxes:
  - id: mine
    database: shop
    table: mine
    shape: ${JSON.stringify(MINE)}
`;

let database: Database;
beforeAll(async () => {
  Object.assign(roles, await createRoles(observed));
  database = openDatabase({ id: 'shop', url: roles.reader, operatorUrl: roles.operator });
  const settings = settingsFor(mapping(MINE), { id: 'mine', inline: true });
  await applyInstall(await bindForInstall(settings, database, observed.url), observed.url);
});
afterAll(() => database.close());
const console = useTestConsole(
  () => store.url,
  () => yaml(),
);

const read = async (): Promise<ProofStatus> => (await (await console.callAs('viewer', status, { params })).json()) as ProofStatus;
const run = async (): Promise<ProofStatus> =>
  (await (await console.callAs('admin', prove, { params, method: 'POST', body: {} })).json()) as ProofStatus;
const turnAs = (role: 'operator' | 'admin', on: boolean): Promise<Response> =>
  console.callAs(role, turn, { params, method: 'PUT', body: { on, reason: 'the proof has been read' } });
const why = async (): Promise<unknown> => {
  const answer = (await (await console.callAs('viewer', outboxes)).json()) as {
    outboxes: { writable: boolean; whyReadOnly: string | null }[];
  };
  const [outbox] = answer.outboxes;
  expect(outbox?.writable).toBe(outbox?.whyReadOnly === null);
  return outbox?.whyReadOnly;
};
const requeue = async (
  id: string,
): Promise<{ status: number; body: Partial<InterventionResult> & { code?: string; because?: string; detail?: string } }> => {
  const seen = (await (await console.callAs('operator', getEvent, { params: { ...params, event: id } })).json()) as {
    event: { id: string; version: string };
  };
  const answer = await console.callAs('operator', intervene, {
    params,
    method: 'POST',
    headers: { 'idempotency-key': crypto.randomUUID() },
    body: { operation: 'requeue', events: [{ id, version: seen.event.version }], reason: 'after the outage' },
  });
  return { status: answer.status, body: (await answer.json()) as Partial<InterventionResult> };
};

describe('a mapping of one’s own', () => {
  it('is watched, refuses every change, and says that it is not proven', async () => {
    expect(await why()).toBe('mapping_not_proven');
    const refused = await requeue('1');
    expect(refused).toMatchObject({ status: 403, body: { code: 'read_only', because: 'mapping_not_proven' } });
    expect(refused.body.detail).toContain('npm run console -- prove mine');
    expect(await observed.query('SELECT state, tries FROM mine WHERE id = 1')).toEqual([{ state: 3, tries: 9 }]);
    expect(await observed.query('SELECT count(*)::int AS n FROM outbox_console.intervention')).toEqual([{ n: 0 }]);
  });

  it('is proven and turned on by administrators alone, and whoever else tries is in the audit', async () => {
    for (const role of ['viewer', 'operator', 'approver'] as const)
      expect((await console.callAs(role, prove, { params, method: 'POST', body: {} })).status).toBe(403);
    expect((await turnAs('operator', true)).status).toBe(403);
    const { entries } = (await (await console.callAs('viewer', audit, { path: '/?outbox=mine' })).json()) as {
      entries: { operation: string; outcome: string }[];
    };
    expect(entries.map(({ operation, outcome }) => `${operation} ${outcome}`).sort()).toEqual([
      'prove refused',
      'prove refused',
      'prove refused',
      'turn_changes_on refused',
    ]);
  });

  it('cannot be turned on before it is proven', async () => {
    expect((await turnAs('admin', true)).status).toBe(409);
    expect(await why()).toBe('mapping_not_proven');
  });

  it('stays read-only when proven, until somebody turns changes on with a reason', async () => {
    expect(await run()).toMatchObject({ ready: true, last: { outcome: 'proven' }, whyReadOnly: 'changes_off' });
    expect((await requeue('1')).body.detail).toContain('changes_off');
    expect((await console.callAs('admin', turn, { params, method: 'PUT', body: { on: true, reason: 'x' } })).status).toBe(400);
    expect((await turnAs('admin', true)).status).toBe(200);
    expect(await why()).toBeNull();
    expect(await requeue('1')).toMatchObject({ status: 200, body: { outcome: 'applied', changed: ['1'] } });
    expect(await observed.query('SELECT state, tries FROM mine WHERE id = 1')).toEqual([{ state: 0, tries: 0 }]);
    expect((await read()).switched).toMatchObject({ on: true, actor: 'admin bot', reason: 'the proof has been read' });
  });

  it('is off at once when it is turned off in another process', async () => {
    await store.query('UPDATE changes_switch SET turned_on = false');
    const refused = await requeue('2');
    expect(refused).toMatchObject({ status: 403, body: { code: 'read_only', because: 'changes_off' } });
    await store.query('UPDATE changes_switch SET turned_on = true');
    expect(await requeue('2')).toMatchObject({ status: 200, body: { outcome: 'applied' } });
  });

  it('refuses a change on a table altered since it was looked at, in the transaction of the change', async () => {
    await why();
    await observed.query('ALTER TABLE mine ADD region text');
    const refused = await requeue('3');
    expect(refused).toMatchObject({ status: 403, body: { code: 'read_only', because: 'table_changed' } });
    expect(await observed.query('SELECT state, tries FROM mine WHERE id = 3')).toEqual([{ state: 3, tries: 9 }]);
    // Looked at again, it is another table than the one that was proven; first its archive has to follow.
    expect(await why()).toBe('companions_out_of_date');
    await observed.query('ALTER TABLE outbox_console.archive_mine ADD region text');
    (await getConsole()).directory.forget('mine');
    expect(await why()).toBe('table_changed');
    expect((await requeue('3')).body.detail).toContain('column_added public.mine.region');
    expect((await read()).differences).toEqual([{ what: 'column_added', of: 'public.mine', name: 'region', was: null, now: 'text' }]);
  });

  it('can be turned on again once it is proven on the table as it is', async () => {
    expect((await turnAs('admin', true)).status).toBe(409);
    expect(await run()).toMatchObject({ ready: true, whyReadOnly: 'table_changed' });
    expect((await turnAs('admin', true)).status).toBe(200);
    expect(await requeue('3')).toMatchObject({ status: 200, body: { outcome: 'applied' } });
  });

  it('refuses an operation that fails its proof, and that one alone', async () => {
    await observed.query(`CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.state := 3; RETURN NEW; END'`);
    await observed.query('CREATE TRIGGER spoil BEFORE UPDATE ON mine FOR EACH ROW EXECUTE FUNCTION spoil()');
    expect((await requeue('4')).body.detail).toContain('table_changed');
    const status = await run();
    expect(status).toMatchObject({ ready: true, last: { outcome: 'incomplete' } });
    expect(status.last?.results.map(({ operation, verdict }) => `${operation} ${verdict}`)).toContain('archive round_trips');
    expect((await turnAs('admin', true)).status).toBe(200);
    expect(await why()).toBeNull();
    const refused = { id: '4', code: 'not_supported', detail: { because: 'failed_its_proof' } };
    expect(await requeue('4')).toMatchObject({ status: 200, body: { outcome: 'none', skipped: [refused] } });
    await observed.query('DROP TRIGGER spoil ON mine');
    (await getConsole()).directory.forget('mine');
    expect(await why()).toBe('table_changed');
    expect((await run()).last?.outcome).toBe('proven');
    expect((await turnAs('admin', true)).status).toBe(200);
    expect(await requeue('4')).toMatchObject({ status: 200, body: { outcome: 'applied' } });
  });

  it('is read-only while its operator’s role lacks a right, and says so before anybody tries', async () => {
    await observed.query(`REVOKE UPDATE ON mine FROM o_${observed.name}`);
    (await getConsole()).directory.forget('mine');
    expect(await why()).toBe('no_grant');
    expect((await requeue('5')).body.detail).toContain('no_grant');
    await observed.query(`GRANT UPDATE (state, tries, note, claimed_at) ON mine TO o_${observed.name}`);
    (await getConsole()).directory.forget('mine');
    expect(await why()).toBeNull();
  });

  it('is read-only while nobody can ask the store, and watched all the same', async () => {
    await store.query('ALTER TABLE changes_switch RENAME TO gone');
    (await getConsole()).directory.forget('mine');
    expect(await why()).toBe('proof_unknown');
    await store.query('ALTER TABLE gone RENAME TO changes_switch');
    (await getConsole()).directory.forget('mine');
    expect(await why()).toBeNull();
  });

  it('has to be proven again when the mapping says something else', async () => {
    const changed = JSON.stringify({ ...MINE, operations: { ...MINE.operations, retry: { refuse: 'relay_retries_at_once' } } });
    await console.restart(yaml().replace(JSON.stringify(MINE), changed));
    expect(await why()).toBe('mapping_changed');
    const refused = await requeue('6');
    expect(refused.body.detail).toContain('mapping operations');
    expect(await observed.query('SELECT state FROM mine WHERE id = 6')).toEqual([{ state: 3 }]);
  });
});
