import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uuidv7 } from 'uuidv7';
import { useTestDatabase } from '@/scripts/testing/database';
import { noteActed } from './acted';
import { findAccount, insertAccount, updateAccount } from './accounts';
import type { AuditFilter } from '@/lib/shared/model';
import {
  auditLines,
  insertAuditEntries,
  selectAuditEntries,
  type NewAuditEntry,
  hasCarriedAny,
  keepCarried,
  lackedRecords,
  selectCarriedTimes,
} from './audit';
import type { Position } from './pages';
import { listActions } from './marks';
import { findCollectorStates, takeLease, underLease, writeCollectorState } from './collector-leases';
import { DOCTOR_SAMPLE_DAYS, keepSample, readSamples } from './doctor';
import { deleteOldRows } from './old-rows';
import { findLiveSession, insertSession, revokeSession } from './sign-ins';
import { isUpToDate, migrateStore, openStore, type Store } from './store';
import { openVerdictSpans, putVerdictChanges, type VerdictChanges } from './verdict-spans';
import {
  deleteUnsettled,
  findUnsettled,
  findUnsettledOfKey,
  insertUnsettled,
  markNotApplied,
  selectUnsettled,
} from './unsettled-interventions';

const database = useTestDatabase();
let store: Store;
beforeAll(async () => {
  // Four replicas starting at once.
  const results = await Promise.all([1, 2, 3, 4].map(() => migrateStore(database.url)));
  expect(results.every((result) => result.ok)).toBe(true);
  expect(results.flatMap((result) => (result.ok ? result.applied : []))).toEqual([
    '001-first-tables',
    '002-rollups',
    '003-marks',
    '004-doctor',
    '005-proofs',
    '006-carried-records',
    '007-not-applied',
    '008-doors',
    '009-acted',
    '010-actions',
    '011-verdicts',
    '012-causes',
    '013-plans-and-runs',
  ]);
  store = openStore(database.url);
});
afterAll(() => store.close());

const entry = (at: string, more: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  id: uuidv7(),
  at,
  actorId: 'account:1',
  actor: 'mina@example.com',
  role: 'operator',
  operation: 'retry',
  outbox: 'escrow',
  eventId: 'e1',
  eventType: 'order_complete',
  aggregateId: 'order-1',
  reason: 'node is back',
  outcome: 'applied',
  code: null,
  interventionId: null,
  before: { status: 'failed', note: null },
  after: { status: 'pending', note: null },
  ...more,
});

describe('migrations', () => {
  it('are applied once', async () => {
    expect(await migrateStore(database.url)).toEqual({ ok: true, applied: [] });
    expect(await isUpToDate(store)).toBe(true);
  });

  it('say that a store is not there', async () => {
    const result = await migrateStore('postgresql://nobody@127.0.0.1:1/nowhere');
    expect(result).toMatchObject({ ok: false, why: 'unreachable' });
  });

  it('refuse a store that a newer version has changed', async () => {
    await database.query(`insert into kysely_migration (name, timestamp) values ('999-from-the-future', now()::text)`);
    expect(await migrateStore(database.url)).toMatchObject({ ok: false, why: 'newer' });
    await database.query(`delete from kysely_migration where name = '999-from-the-future'`);
  });
});

describe('connections', () => {
  it('carry their limits and the time zone', async () => {
    const { rows } = await store.db.executeQuery<{ zone: string; statement: string; name: string }>({
      ...store.db.selectNoFrom((eb) => eb.val(1).as('x')).compile(),
      sql: `select current_setting('timezone') zone, current_setting('statement_timeout') statement, current_setting('application_name') name`,
      parameters: [],
    });
    expect(rows[0]).toMatchObject({ zone: 'UTC', statement: '8s' });
    expect(rows[0]?.name).toMatch(/^outbox-console\/store@/);
  });
});

describe('accounts and sessions', () => {
  it('keep one account per address and end sessions with every change', async () => {
    const id = await insertAccount(store.db, { email: 'mina@example.com', passwordHash: 'x', role: 'operator' });
    expect(id).not.toBeNull();
    expect(await insertAccount(store.db, { email: 'mina@example.com', passwordHash: 'y', role: 'admin' })).toBeNull();
    const sid = await insertSession(store.db, id ?? '', 8);
    expect(await findLiveSession(store.db, sid ?? '')).toEqual({ accountId: id, email: 'mina@example.com', role: 'operator' });
    await updateAccount(store.db, 'mina@example.com', { role: 'viewer' });
    expect(await findLiveSession(store.db, sid ?? '')).toBeNull();
    const next = (await insertSession(store.db, id ?? '', 8)) ?? '';
    await updateAccount(store.db, 'mina@example.com', { disabled: true });
    expect(await findLiveSession(store.db, next)).toBeNull();
    expect(await insertSession(store.db, id ?? '', 8)).toBeNull();
    expect((await findAccount(store.db, 'mina@example.com'))?.disabled).toBe(true);
    expect(await updateAccount(store.db, 'nobody@example.com', { disabled: true })).toBe(false);
  });

  it('end by revocation and by time', async () => {
    const id = (await insertAccount(store.db, { email: 'joon@example.com', passwordHash: 'x', role: 'viewer' })) ?? '';
    const revoked = (await insertSession(store.db, id, 8)) ?? '';
    await revokeSession(store.db, revoked);
    expect(await findLiveSession(store.db, revoked)).toBeNull();
    const over = (await insertSession(store.db, id, -48)) ?? '';
    expect(await findLiveSession(store.db, over)).toBeNull();
    await deleteOldRows(store.db);
    expect(await database.query('select 1 from session where sid = $1', [over])).toEqual([]);
  });
});

describe('the audit', () => {
  it('adds each entry once and reads back page by page, to the microsecond', async () => {
    const entries = [
      entry('2026-11-21T10:00:00.123456Z'),
      entry('2026-11-21T10:00:00.123457Z', { eventId: 'e2', before: null, after: null, outcome: 'refused', code: 'forbidden' }),
      entry('2026-11-21T10:00:01Z', { actor: 'joon@example.com', outbox: 'orders' }),
    ];
    expect(await insertAuditEntries(store.db, entries)).toBe(3);
    expect(await insertAuditEntries(store.db, entries)).toBe(0);
    const first = await selectAuditEntries(store.db, {}, null, 2);
    expect(first.map((row) => row.at)).toEqual(['2026-11-21T10:00:01Z', '2026-11-21T10:00:00.123457Z']);
    const last = first[1];
    const rest = await selectAuditEntries(store.db, {}, { at: last?.at ?? '', id: last?.id ?? '' }, 2);
    const { actorId: _, ...shown } = entries[0] ?? entry('');
    expect(rest).toEqual([{ ...shown, oddities: [] }]);
    expect(await selectAuditEntries(store.db, { outbox: 'orders' }, null, 10)).toHaveLength(1);
    expect(await selectAuditEntries(store.db, { outbox: 'escrow', event: 'e2' }, null, 10)).toHaveLength(1);
    expect(
      await selectAuditEntries(store.db, { actor: 'mina@example.com', outcome: 'applied', operation: 'retry' }, null, 10),
    ).toHaveLength(1);
    expect(await selectAuditEntries(store.db, { from: '2026-11-21T10:00:01Z', to: '2026-11-21T10:00:01Z' }, null, 10)).toEqual([]);
  });
});

describe('the audit by action', () => {
  const second = (at: number): string => `2026-11-22T10:00:${String(at).padStart(2, '0')}Z`;
  const decision = uuidv7();
  const records = Array.from({ length: 5 }, () => uuidv7());
  const signIn = entry(second(3), { operation: 'sign_in', outbox: null, eventId: null, before: null, after: null });
  const alone = entry(second(4), { interventionId: uuidv7(), outbox: 'many', eventId: 'single' });
  /** A decision of five records with 200 lines each, of which the last two left their event alone. */
  const lines = records.flatMap((interventionId, part) =>
    Array.from({ length: 200 }, (_, line) =>
      entry(second(part), {
        action: decision,
        interventionId,
        outbox: 'many',
        eventId: `${String(part)}-${String(line)}`,
        ...(line > 197 && { outcome: 'none', code: 'locked' }),
      }),
    ),
  );
  const filter = { from: second(0), to: second(59) };
  const byAction = (more: AuditFilter, position: Position | null = null, limit = 10) =>
    selectAuditEntries(store.db, { ...filter, ...more }, position, limit, 'action');

  beforeAll(async () => {
    // The parts come in any order.
    await insertAuditEntries(store.db, [...lines.slice(600), signIn, alone, ...lines.slice(0, 600)]);
  });

  it('has one line of a decision, whatever its size, beside those of single events and of none', async () => {
    const found = await byAction({});
    expect(found.map(({ at, operation, events }) => ({ at, operation, events }))).toEqual([
      { at: second(4), operation: 'retry', events: { changed: 1, left: 0 } },
      { at: second(3), operation: 'sign_in', events: undefined },
      { at: second(0), operation: 'retry', events: { changed: 990, left: 10 } },
    ]);
    expect(found[2]?.interventionId).toBe(records[0]);
  });

  it('goes on page by page, and shows each action once', async () => {
    const [first] = await byAction({}, null, 1);
    const rest = await byAction({}, { at: first?.at ?? '', id: first?.id ?? '' }, 10);
    expect([first, ...rest].map((one) => one?.at)).toEqual([second(4), second(3), second(0)]);
  });

  it('shows by a filter the first line that matches, and counts the whole action', async () => {
    expect(await byAction({ outcome: 'none' })).toMatchObject([{ at: second(0), code: 'locked', events: { changed: 990, left: 10 } }]);
    expect(await byAction({ from: second(2) })).toMatchObject([
      { at: second(4) },
      { at: second(3) },
      { at: second(2), interventionId: records[2] },
    ]);
    expect(await byAction({ event: '4-7' })).toMatchObject([{ eventId: '4-7', events: { changed: 990, left: 10 } }]);
  });

  it('finds the lines of an action by any of its interventions', async () => {
    for (const action of [records[0] ?? '', records[4] ?? '']) {
      const found = await selectAuditEntries(store.db, { action }, null, 2_000);
      expect(new Set(found.map(({ eventId }) => eventId)).size).toBe(1_000);
    }
    expect(await selectAuditEntries(store.db, { action: alone.interventionId ?? '' }, null, 10)).toMatchObject([{ eventId: 'single' }]);
    expect(await selectAuditEntries(store.db, { action: uuidv7() }, null, 10)).toEqual([]);
  });

  it('marks charts with what changed anything, once per decision', async () => {
    const carried = (id: string) => ({ id, outbox: 'many', lines: 200 });
    const skipped = uuidv7();
    const left = entry(second(5), { interventionId: skipped, outbox: 'many', outcome: 'none', code: 'locked' });
    await insertAuditEntries(store.db, [left]);
    await keepCarried(store.db, [...records, alone.interventionId ?? '', skipped].map(carried));
    await database.query(`update carried_record set carried_at = '${second(9)}' where outbox = 'many'`);
    const marks = await listActions(store.db, { ...filter, outbox: 'many' });
    expect(marks.map(({ at, changed, text, actor, operation }) => ({ at, changed, text, actor, operation }))).toEqual([
      { at: second(4), changed: 1, text: 'node is back', actor: 'mina@example.com', operation: 'retry' },
      { at: second(0), changed: 990, text: 'node is back', actor: 'mina@example.com', operation: 'retry' },
    ]);
    expect(records).toContain(marks[1]?.id);
    expect(await listActions(store.db, { ...filter, outbox: 'orders' })).toEqual([]);
    expect(await listActions(store.db, { from: second(1), to: second(4), outbox: 'many' })).toEqual([]);
  });

  it('reads by its indexes, however many lines there are', async () => {
    await database.query(`insert into audit_entry (id, at, actor_id, actor_name, actor_role, operation, outbox, event_id, reason, outcome, intervention_id)
      select gen_random_uuid(), timestamptz '2026-01-01' + n * interval '1 minute', 'a', 'a', 'operator', 'retry', 'many', 'e' || n, 'r', 'applied',
        lpad(to_hex(n / 20), 32, '0')::uuid from generate_series(1, 40000) as n`);
    await database.query('analyze audit_entry');
    for (const by of ['line', 'action'] as const)
      for (const more of [{}, { outcome: 'applied' }, { outbox: 'many', from: second(0) }]) {
        const plan = JSON.stringify(await auditLines(store.db, more, null, 51, by).explain('json'));
        expect(plan, `${by} ${JSON.stringify(more)}`).not.toMatch(/Seq Scan|"Sort"/);
      }
    expect(await byAction({ from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' }, null, 200)).toHaveLength(200);
    await database.query(`delete from audit_entry where actor_id = 'a'`);
  });
});

describe('the carrier', () => {
  it('is told which records are lacking, by id and by number of lines', async () => {
    const [whole, grown, missing] = [uuidv7(), uuidv7(), uuidv7()];
    const kept = [whole, grown].map((id) => ({ id, outbox: 'escrow', lines: 2 }));
    expect(await hasCarriedAny(store.db, ['escrow'])).toBe(false);
    await keepCarried(store.db, kept);
    await keepCarried(store.db, kept);
    expect(await hasCarriedAny(store.db, ['orders', 'escrow'])).toBe(true);
    const there = [
      { id: whole, lines: 1 },
      { id: grown, lines: 3 },
      { id: missing, lines: 0 },
    ];
    expect(await lackedRecords(store.db, there)).toEqual(new Set([grown, missing]));
    await keepCarried(store.db, [{ id: grown, outbox: 'escrow', lines: 3 }]);
    const times = await selectCarriedTimes(store.db, [whole, grown, missing]);
    expect([times.get(whole)?.grownAt, times.get(grown)?.grownAt, times.get(missing)]).toEqual([null, expect.any(String), undefined]);
    expect(await lackedRecords(store.db, there)).toEqual(new Set([missing]));
  });

  it('remembers what is unsettled', async () => {
    const one = {
      id: uuidv7(),
      outbox: 'escrow',
      actor: { id: 'token:1', name: 'script', role: 'operator', kind: 'token' } as const,
      key: 'k',
      request: { operation: 'retry', events: [{ id: '1', version: 'v' }], reason: 'why not' },
      at: '2026-11-21T10:00:00Z',
    };
    await insertUnsettled(store.db, one);
    await insertUnsettled(store.db, one);
    expect(await selectUnsettled(store.db, ['escrow'], 10)).toEqual([one]);
    expect(await selectUnsettled(store.db, ['another'], 10)).toEqual([]);
    const key = { outbox: 'escrow', actorId: 'token:1', key: 'k' };
    expect(await findUnsettledOfKey(store.db, key)).toEqual({ entry: one, notApplied: false });
    expect(await findUnsettledOfKey(store.db, { ...key, actorId: 'token:2' })).toBeNull();
    await markNotApplied(store.db, one.id);
    expect(await selectUnsettled(store.db, ['escrow'], 10)).toEqual([]);
    expect(await findUnsettled(store.db, one.id)).toEqual({ entry: one, notApplied: true });
    const later = { ...one, id: uuidv7() };
    await insertUnsettled(store.db, later);
    expect(await findUnsettledOfKey(store.db, key)).toEqual({ entry: later, notApplied: false });
    await deleteUnsettled(store.db, later.id);
    await deleteOldRows(store.db);
    expect(await findUnsettledOfKey(store.db, key)).toEqual({ entry: one, notApplied: true });
    await database.query(`update unsettled_intervention set not_applied_at = now() - interval '91 days'`);
    await deleteOldRows(store.db);
    expect(await findUnsettled(store.db, one.id)).toBeNull();
  });
});

describe('who acted', () => {
  it('is known with the lease and with the progress: the first time and the last, never later than now', async () => {
    const known = async () => (await findCollectorStates(store.db, ['acted-on'])).get('acted-on')?.acted;
    const lease = await takeLease(store.db, 'acted-on', 'a', 60);
    if (lease === null) return expect.fail('no lease');
    await underLease(store, lease, (db) => writeCollectorState(db, lease, '{}'));
    expect([lease.acted, await known()]).toEqual([null, null]);
    const [first, last] = ['2026-11-20T10:00:00.123456Z', '2026-11-21T10:00:00Z'];
    await noteActed(store.db, [
      { outbox: 'acted-on', at: last },
      { outbox: 'another', at: last },
      { outbox: 'acted-on', at: first },
    ]);
    await noteActed(store.db, [{ outbox: 'acted-on', at: '2026-11-20T12:00:00Z' }]);
    expect(await known()).toEqual({ first, last });
    expect(await takeLease(store.db, 'acted-on', 'a', 60)).toEqual({ ...lease, acted: { first, last } });
    await noteActed(store.db, [{ outbox: 'acted-on', at: '2999-01-01T00:00:00Z' }]);
    const now = (await known())?.last ?? '';
    expect(now > last && now < '2999').toBe(true);
    await noteActed(store.db, [{ outbox: 'acted-on', at: null }]);
    expect((await known())?.last.localeCompare(now)).toBe(1);
    expect((await known())?.first).toBe(first);
  });
});

describe('verdicts', () => {
  it('are entered with their start and end; the same start again is the same incident', async () => {
    const lease = await takeLease(store.db, 'incidents', 'a', 60);
    if (lease === null) return expect.fail('no lease');
    const put = (changes: Partial<VerdictChanges>) =>
      underLease(store, lease, (db) => putVerdictChanges(db, 'incidents', { begun: [], ended: [], ...changes }));
    const open = async () => Object.fromEntries((await openVerdictSpans(store.db, ['incidents', 'other'])).get('incidents') ?? []);
    const [at, before] = ['2026-11-21T10:00:00.000123Z', '2026-11-21T09:00:00Z'];
    await put({ begun: [{ verdict: 'source_down', at }] });
    expect(await open()).toEqual({ source_down: at });
    // The other clock is behind: a span never ends before it begins.
    await put({ ended: [{ verdict: 'source_down', at: before }], begun: [{ verdict: 'relay_stopped', at: before }] });
    expect(await open()).toEqual({ relay_stopped: before });
    await put({ begun: [{ verdict: 'source_down', at }] });
    expect(Object.keys(await open()).sort()).toEqual(['relay_stopped', 'source_down']);
    expect(await database.query('select verdict from verdict_span where ended_at < began_at')).toEqual([]);
    expect(await database.query('select verdict from verdict_span')).toHaveLength(2);
    await put({ ended: [{ verdict: 'relay_stopped', at }] });
    await database.query(`update verdict_span set ended_at = now() - interval '401 days' where ended_at is not null`);
    await deleteOldRows(store.db);
    expect(await database.query('select verdict from verdict_span')).toEqual([{ verdict: 'source_down' }]);
  });
});

describe('what examinations saw', () => {
  it('is kept once a day, and the newest of it is read, oldest first', async () => {
    const day = (ago: number): string => new Date(Date.parse('2026-11-21T10:00:00Z') - ago * 86_400_000).toISOString();
    for (let ago = DOCTOR_SAMPLE_DAYS; ago >= 0; ago -= 1) await keepSample(store.db, 'escrow', day(ago), `day -${String(ago)}`);
    await keepSample(store.db, 'escrow', day(0), 'later on that day');
    const samples = await readSamples(store.db, 'escrow');
    expect([samples.length, samples[0], samples.at(-1)]).toEqual([DOCTOR_SAMPLE_DAYS, `day -${String(DOCTOR_SAMPLE_DAYS - 1)}`, 'day -0']);
  });
});
