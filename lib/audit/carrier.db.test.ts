import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, openSample, type OpenOutbox } from '@/scripts/testing/outbox';
import { intervene } from '@/lib/interventions/intervene';
import { ANNA, BEN, depsFor, freshKey } from '@/fixtures/interventions';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { startCarrier, type Carrier } from './carrier';
import { listAudit } from './list';

const DEAD = '00000000-0000-4000-8000-000000000005';
const [PENDING, RETRYING] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];

describe('the carrier', () => {
  const observed = useTestDatabase((db) => createSample(db, escrowStatus));
  const storeDatabase = useTestDatabase();
  let open: OpenOutbox;
  let store: Store;
  const errors: unknown[] = [];
  const carriers: Carrier[] = [];
  const start = (): Carrier => {
    const carrier = startCarrier({ directory: depsFor(open.outbox).directory, store, onError: (_database, error) => errors.push(error) });
    carriers.push(carrier);
    return carrier;
  };
  const act = async (operation: string) => {
    const stored = await getEvent(open.outbox, DEAD);
    return intervene(
      depsFor(open.outbox),
      ANNA,
      'sample',
      { operation, events: [{ id: DEAD, version: stored?.event.version ?? '' }], reason: 'carried' },
      freshKey(),
    );
  };
  const audit = async () => (await listAudit(store, { event: DEAD }, { limit: 200 })).entries;

  beforeAll(async () => {
    open = await openSample(observed, escrowStatus);
    expect((await migrateStore(storeDatabase.url)).ok).toBe(true);
    store = openStore(storeDatabase.url);
  });
  afterAll(async () => {
    await Promise.all(carriers.map((carrier) => carrier.stop()));
    await Promise.all([open.close(), store.close()]);
  });

  it('brings every record into the audit with who, why, before and after', async () => {
    const { interventionId } = await act('archive');
    const carrier = start();
    await carrier.carryAll();
    expect(await audit()).toMatchObject([
      {
        actor: ANNA.name,
        role: 'operator',
        operation: 'archive',
        outbox: 'sample',
        eventId: DEAD,
        eventType: 'order_complete',
        aggregateId: 'order-2',
        reason: 'carried',
        outcome: 'applied',
        code: null,
        interventionId,
        before: { status: 'failed', retry_count: '5' },
        after: { oc_from_state: 'dead' },
      },
    ]);
    expect((await audit())[0]?.before).not.toHaveProperty('payload');
    const [at, noted] = await Promise.all([
      observed.query('SELECT at FROM outbox_console.intervention'),
      storeDatabase.query('SELECT outbox, first_at, last_at FROM acted'),
    ]);
    expect(noted).toEqual([{ outbox: 'sample', first_at: at[0]?.at, last_at: at[0]?.at }]);
  });

  it('carries nothing twice, over restarts and by two replicas at once', async () => {
    await act('restore');
    await Promise.all([start().carryAll(), start().carryAll()]);
    await start().carryAll();
    expect((await audit()).map((entry) => entry.operation)).toEqual(['restore', 'archive']);
  });

  it('puts the parts of one decision together, and nothing else under it', async () => {
    const key = freshKey();
    const change =
      (of: string, operation: string, reason = 'one decision', actor = ANNA) =>
      async (part: string) => {
        const stored = await getEvent(open.outbox, of);
        const request = { operation, events: [{ id: of, version: stored?.event.version ?? '' }], reason };
        return (await intervene(depsFor(open.outbox), actor, 'sample', request, part)).interventionId;
      };
    const parts = [
      await change(RETRYING, 'archive')(`${key}/1`),
      await change(PENDING, 'archive')(`${key}/2`),
      await change(RETRYING, 'restore')(`${key}/3`),
      await change(PENDING, 'restore', 'another reason')(`${key}/4`),
      await change(RETRYING, 'archive', 'one decision', BEN)(`${key}/5`),
      await change(RETRYING, 'restore')('a-script-of-mine/1'),
    ];
    await start().carryAll();
    const ofEach = await Promise.all(
      parts.map(async (action) =>
        (await listAudit(store, { action }, { limit: 9 })).entries.map(({ interventionId }) => interventionId).sort(),
      ),
    );
    expect(ofEach).toEqual([parts.slice(0, 2).sort(), parts.slice(0, 2).sort(), ...parts.slice(2).map((one) => [one])]);
  });

  it('puts the batches of a run together, found by its id', async () => {
    const run = freshKey();
    for (const [of, part] of [
      [RETRYING, 1],
      [PENDING, 2],
    ] as const) {
      const stored = await getEvent(open.outbox, of);
      const request = { operation: 'archive', events: [{ id: of, version: stored?.event.version ?? '' }], reason: 'a run' };
      await intervene(depsFor(open.outbox), ANNA, 'sample', request, `run/${run}/${String(part)}`);
    }
    await start().carryAll();
    const { entries } = await listAudit(store, { action: run }, { limit: 9, by: 'action' });
    expect(entries).toMatchObject([{ operation: 'archive', events: { changed: 2, left: 0 } }]);
    expect((await listAudit(store, { action: run }, { limit: 9 })).entries).toHaveLength(2);
  });

  it('finds a record that was committed late, behind newer ones', async () => {
    const late = new pg.Client({ connectionString: observed.url });
    await late.connect();
    await late.query('BEGIN');
    const id = '01890000-0000-7000-8000-000000000001';
    await late.query(
      `INSERT INTO outbox_console.intervention (id, outbox, actor_id, actor_name, actor_role, key, request_hash, operation, reason) VALUES ($1, 'sample', 'account:late', 'late@example.com', 'operator', 'late', 'h', 'retry', 'late commit')`,
      [id],
    );
    await late.query(
      `INSERT INTO outbox_console.intervention_event (intervention_id, position, event_id, code) VALUES ($1, 0, $2, 'locked')`,
      [id, DEAD],
    );
    await late.query(`UPDATE outbox_console.intervention SET outcome = 'none' WHERE id = $1`, [id]);
    const carrier = start();
    await act('requeue');
    await carrier.carryAll();
    expect((await audit()).some((entry) => entry.interventionId === id)).toBe(false);
    await late.query('COMMIT');
    await late.end();
    await carrier.carryAll();
    expect((await audit()).find((entry) => entry.interventionId === id)).toMatchObject({
      outcome: 'none',
      code: 'locked',
      actor: 'late@example.com',
    });
    expect(errors).toEqual([]);
  });

  it('pages the audit without losing or repeating an entry, and refuses a foreign cursor', async () => {
    const all = await audit();
    const walked: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listAudit(store, { event: DEAD }, { limit: 1, ...(cursor === undefined ? {} : { cursor }) });
      walked.push(...page.entries.map((entry) => entry.id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(walked).toEqual(all.map((entry) => entry.id));
    await expect(listAudit(store, {}, { limit: 1, cursor: 'x' })).rejects.toMatchObject({ code: 'invalid' });
  });
});
