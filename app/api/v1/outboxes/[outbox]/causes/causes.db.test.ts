/** Causes of more dead events than are read for a request: as the collector counted them, and as who asks may see them. */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import type { Role } from '@/lib/shared/permissions';
import { useTestConsole } from '@/scripts/testing/console';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample } from '@/scripts/testing/outbox';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { GET as EVENTS } from '../events/route';
import { GET } from '../groups/route';
import { PUT } from './[cause]/note/route';

const DEAD = 2_400;

const store = useTestDatabase();
const database = useTestDatabase(async (db) => {
  await createSample(db, escrowStatus, { rows: false });
  await db.query(`INSERT INTO p2p.transaction_outbox
      (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, last_attempt_time, retry_count, error_message)
    SELECT gen_random_uuid(), 'k' || n, 'order_complete', 'order-' || n, CASE WHEN n < ${DEAD} THEN 'failed' ELSE 'pending' END,
      jsonb_build_object('amount', '0.01', 'currency', 'EUR', 'user', jsonb_build_object('name', CASE WHEN n % 6 = 0 THEN 'Kimberly' ELSE 'Leonardo' END)),
      timestamptz '2026-01-01' + n * interval '1 second', timestamptz '2026-01-02' + n * interval '1 second' + CASE WHEN n % 6 = 0 THEN interval '20 days' ELSE interval '0' END, 5,
      CASE WHEN n % 6 = 0 THEN 'login of Kimberly refused' WHEN n % 3 = 0 THEN 'login of Leonardo refused' ELSE 'node ' || n || ' down' END
    FROM generate_series(0, ${DEAD + 3}) AS n`);
});
const { callAs } = useTestConsole(
  () => store.url,
  () =>
    `databases: {d: {url: '${database.url}'}}\nmetrics: {tick: 1}\noutboxes: [{id: escrow, database: d, table: p2p.transaction_outbox, shape: escrow-status, amount: {value: payload.amount, currency: payload.currency}, mask: [payload.user]}]\n`,
);

interface Group {
  id: string;
  template: string | null;
  count: number;
  known: string;
  firstSeenAt: string;
  sums: Record<string, string>;
  samples: string[];
  retrying: number;
  note: { text: string; actor: string } | null;
  newSince: string | null;
}
type Groups = { groups: Group[]; others: number; searched: { rows: number; complete: boolean; round?: object } };
const params = { outbox: 'escrow' };
const groups = async (role: Role) => (await (await callAs(role, GET, { params })).json()) as Groups;
const told = async (role: Role) =>
  (await groups(role)).groups.map(({ template, count, known, sums }) => [template, count, known, sums.EUR]);
const note = (cause: string, text: string, role: Role = 'operator') =>
  callAs(role, PUT, { method: 'PUT', params: { ...params, cause }, body: { note: text } });

beforeAll(async () => {
  await database.query('ANALYZE');
  await vi.waitFor(async () => expect((await groups('operator')).searched.round).toBeDefined(), { timeout: PATIENCE_MS, interval: 500 });
}, PATIENCE_MS);

describe('groups of many dead events', () => {
  it('are of all of them, with their sums and those that are tried again', async () => {
    expect(await told('operator')).toEqual([
      ['node … down', 1_600, 'exact', '16.00'],
      ['login of Kimberly refused', 400, 'exact', '4.00'],
      ['login of Leonardo refused', 400, 'exact', '4.00'],
    ]);
    const { searched, others } = await groups('operator');
    expect([searched.rows, searched.complete, others]).toEqual([DEAD, true, 0]);
    await expect.poll(async () => (await groups('operator')).groups[0]?.retrying, { timeout: PATIENCE_MS }).toBe(2);
  });

  it('are those together that a viewer cannot tell apart, under an id that tells no more', async () => {
    expect(await told('viewer')).toEqual([
      ['node … down', 1_600, 'exact', '16.00'],
      ['login of … refused', 800, 'exact', '8.00'],
    ]);
    const [own, seen] = [await groups('operator'), await groups('viewer')];
    expect(JSON.stringify(seen)).not.toMatch(/Kimberly|Leonardo/);
    expect(own.groups.map(({ id }) => id)).not.toContain(seen.groups[1]?.id);
    expect(own.groups[0]?.id).toBe(seen.groups[0]?.id);
  });

  it.each(['operator', 'viewer'] as const)('lead a list of %s by their id to the events that are in them', async (role) => {
    for (const { id, template } of (await groups(role)).groups) {
      const answer = await callAs(role, EVENTS, { params, path: `/?cause=${id}&limit=200` });
      const { events } = (await answer.json()) as { events: { error: string }[] };
      expect(events.length).toBeGreaterThan(100);
      const mine = new RegExp(`^${template?.replace('…', '.+') ?? ''}$`);
      expect(events.filter(({ error }) => !mine.test(error))).toEqual([]);
    }
  });

  it('are new since a deploy that a mark tells of, where none of theirs was seen before it', async () => {
    await store.query(
      `INSERT INTO mark (id, at, kind, text, actor_id, actor_name, request_hash) VALUES (gen_random_uuid(), '2026-01-15', 'deploy', 'r', 'a', 'a', 'h')`,
    );
    const found = (await groups('operator')).groups;
    expect(found.filter(({ newSince }) => newSince !== null).map(({ template }) => template)).toEqual(['login of Kimberly refused']);
  });

  it('are estimated as soon as an operator has acted', async () => {
    expect((await told('operator')).map(([, , known]) => known)).toEqual(['exact', 'exact', 'exact']);
    await store.query(`INSERT INTO acted VALUES ('escrow', now(), now())`);
    expect((await told('operator')).map(([, , known]) => known)).toEqual(['estimated', 'estimated', 'estimated']);
    await store.query('DELETE FROM acted');
  });
});

describe('a note on a cause', () => {
  const idOf = async (template: string) => (await groups('operator')).groups.find((group) => group.template === template)?.id ?? '';

  it('is written by an operator, read by who sees all, and taken off by an empty one; all of it is in the audit', async () => {
    const id = await idOf('login of Leonardo refused');
    expect(await (await note(id, ' ask the ledger team ')).json()).toMatchObject({
      note: { text: 'ask the ledger team', actor: 'operator bot' },
    });
    expect((await groups('operator')).groups.find((group) => group.id === id)?.note).toMatchObject({ text: 'ask the ledger team' });
    // It may quote what is masked.
    expect((await groups('viewer')).groups.every((group) => group.note === null)).toBe(true);
    expect(await (await note(id, '')).json()).toEqual({ note: null });
    expect((await groups('operator')).groups.every((group) => group.note === null)).toBe(true);
    const entries = await store.query(
      `SELECT operation, outcome, reason, after->>'note' AS note FROM audit_entry WHERE operation = 'cause_note' ORDER BY recorded_at`,
    );
    expect(entries).toEqual([
      { operation: 'cause_note', outcome: 'applied', reason: 'ask the ledger team', note: 'ask the ledger team' },
      { operation: 'cause_note', outcome: 'applied', reason: 'ask the ledger team', note: null },
    ]);
  });

  it('is refused to a viewer, of a cause that there is not, and where it is too long', async () => {
    const id = await idOf('node … down');
    expect((await note(id, 'x', 'viewer')).status).toBe(403);
    expect((await note('0123456789abcdef', 'x')).status).toBe(404);
    expect((await note('node … down', 'x')).status).toBe(400);
    expect((await note(id, 'x'.repeat(501))).status).toBe(400);
    expect((await note(id, 'x'.repeat(500))).status).toBe(200);
    await note(id, '');
  });
});
