/** Plans on a real table of escrow events and a real store, for tests of plans, approvals and what one person may change. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { depsFor, freshKey } from '@/fixtures/interventions';
import type { ApprovalRule } from '@/lib/config/config';
import { createPlan } from '@/lib/runs/plans/create';
import { plannedEvents, type PlanDeps } from '@/lib/runs/plans/plan';
import { requireStartable } from '@/lib/runs/plans/startable';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import type { Actor, Role } from '@/lib/shared/permissions';
import type { PlanRequest, PlanSource } from '@/lib/shared/runs/plans';
import { insertAccount } from '@/lib/store/accounts';
import { insertApiToken } from '@/lib/store/api-tokens';
import type { PlanRow } from '@/lib/store/plans';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { useTestDatabase } from './database';
import { createSample, openSample, type OpenOutbox } from './outbox';

export const TABLE = 'p2p.transaction_outbox';
const RULE: ApprovalRule = { outboxes: null, operations: null, rows: null, amount: null, notIdempotent: false };
export const idOf = (i: number): string => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;

/** What a promise was refused with. */
export const refused = (work: Promise<unknown>): Promise<{ code: string; detail: string }> =>
  work.then(
    () => ({ code: 'no refusal', detail: '' }),
    (error: unknown) => error as { code: string; detail: string },
  );

/** Call it once at the top of the file; its people and connections are there once tests run. */
export function usePlans() {
  const observed = useTestDatabase((db) => createSample(db, escrowStatus, { rows: false }));
  const storeDatabase = useTestDatabase();
  const world = {} as { open: OpenOutbox; store: Store } & Record<'maker' | 'approver' | 'other', Actor>;
  let serial = 0;

  async function account(role: Role): Promise<Actor> {
    const name = `${role}-${(serial += 1)}@outbox.local`;
    const id = await insertAccount(world.store.db, { email: name, passwordHash: '-', role });
    return { id: `account:${id ?? ''}`, name, role, kind: 'account' };
  }

  async function token(role: Role): Promise<Actor> {
    const name = `bot-${(serial += 1)}`;
    const id = await insertApiToken(world.store.db, { name, role, hash: name, prefix: name, days: null });
    return { id: `token:${id ?? ''}`, name, role, kind: 'token' };
  }

  /** Dead events `from` to `to`, in order of creation, each of 10.50 EUR. */
  const insertDead = (
    from: number,
    to: number,
    { error = "'order-' || i || ': node down'", type = 'order_complete', currency = 'EUR' } = {},
  ) =>
    observed.query(`INSERT INTO ${TABLE} (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, last_attempt_time, retry_count, error_message)
    SELECT ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, 'k' || i, '${type}', 'order-' || i, 'failed', '{"amount": "10.50", "currency": "${currency}"}',
      now() - interval '60 minutes' + i * interval '1 ms', now(), 5, ${error} FROM generate_series(${from}, ${to}) AS i`);

  beforeAll(async () => {
    world.open = await openSample(observed, escrowStatus, {
      amount: { value: 'payload.amount', currency: 'payload.currency' },
      consumers: { order_complete: 'idempotent', refund: 'not' },
    });
    expect((await migrateStore(storeDatabase.url)).ok).toBe(true);
    world.store = openStore(storeDatabase.url);
    Object.assign(world, { maker: await account('approver'), approver: await account('approver'), other: await account('admin') });
  });
  afterAll(() => Promise.all([world.open.close(), world.store.close()]));
  beforeEach(async () => {
    await observed.query(`TRUNCATE ${TABLE}, outbox_console.archive_sample, outbox_console.intervention CASCADE`);
    await storeDatabase.query('truncate plan, plan_chunk, approval, spending, run, run_batch, audit_entry cascade');
  });

  const depsOf = (...approvals: Partial<ApprovalRule>[]): PlanDeps => ({
    store: world.store,
    directory: depsFor(world.open.outbox).directory,
    approvals: approvals.map((rule) => ({ ...RULE, ...rule })),
    leftovers: () => Promise.resolve([idOf(2), idOf(9_999), idOf(1)]),
    publishedPerMinute: () => Promise.resolve(120),
  });
  const request = (source: PlanSource = { filter: 'state=dead' }, operation = 'requeue'): PlanRequest => ({
    operation,
    reason: ' the node is back ',
    source,
  });
  const plan = (deps = depsOf(), source?: PlanSource, by = world.maker, key = freshKey()): Promise<PlanRow> =>
    createPlan(deps, by, 'sample', request(source), key);
  const eventsOf = async (row: PlanRow) => {
    const ids: { id: string; version: string }[] = [];
    for await (const events of plannedEvents(world.store.db, row)) ids.push(...events);
    return ids;
  };
  const idsOf = async (row: PlanRow): Promise<string[]> => (await eventsOf(row)).map(({ id }) => id);

  /** Starts it as a run does, in one transaction; returns the run's id. */
  async function start(deps: PlanDeps, row: PlanRow): Promise<string> {
    const admitted = await requireStartable(deps, row);
    const id = uuidv7();
    await world.store.db.transaction().execute(async (db) => {
      await admitted(db);
      const texts = { pace: '{}', progress: '{}', key: freshKey(), requestHash: '-' };
      await db
        .insertInto('run')
        .values({ id, planId: row.id, outbox: row.outbox, state: 'running', ...texts })
        .execute();
    });
    return id;
  }
  return { ...{ world, observed, storeDatabase, account, token, insertDead, depsOf, request, plan, eventsOf, idsOf, start } };
}
