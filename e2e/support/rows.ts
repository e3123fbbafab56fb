/**
 * Events that a story makes for itself, in states that no relay of the demo touches: dead and long-stuck ones of the
 * escrow outbox. Every story has its own, so that stories can run side by side.
 */
import { randomUUID } from 'node:crypto';
import type { APIRequestContext, Locator, Page } from '@playwright/test';
import type { Database } from './database';

export interface EscrowRow {
  id: string;
  order: string;
}

interface EscrowOptions {
  status?: 'failed' | 'processing';
  retryCount?: number;
  error?: string;
  /** How long ago it was created and, a minute later, last attempted. */
  ageMinutes?: number;
}

/** One row of the escrow outbox; dead unless told otherwise. */
export async function insertEscrow(database: Database, options: EscrowOptions = {}): Promise<EscrowRow> {
  const [row] = await insertEscrows(database, 1, options);
  if (!row) throw new Error('Nothing was inserted');
  return row;
}

export async function insertEscrows(database: Database, count: number, options: EscrowOptions = {}): Promise<EscrowRow[]> {
  const { status = 'failed', retryCount = 5, error = 'story: node answered 503', ageMinutes = 20 } = options;
  const rows = Array.from({ length: count }, () => ({ id: randomUUID(), order: `order-story-${randomUUID().slice(0, 8)}` }));
  await database.query(
    `INSERT INTO p2p.transaction_outbox
       (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, last_attempt_time, retry_count, error_message)
     SELECT id, 'story-' || id, 'order_complete', ref, $3, jsonb_build_object('orderId', ref, 'amount', '125.50', 'currency', 'USDT',
              'customer', jsonb_build_object('email', 'story-customer@example.com')),
            now() - make_interval(mins => $4), now() - make_interval(mins => $4 - 1), $5, $6
       FROM unnest($1::uuid[], $2::text[]) AS made (id, ref)`,
    [rows.map((row) => row.id), rows.map((row) => row.order), status, ageMinutes, retryCount, status === 'failed' ? error : null],
  );
  return rows;
}

/** The row as the relay sees it; null when it is not in the outbox. */
export async function escrowRow(database: Database, id: string): Promise<Record<string, unknown> | null> {
  const [row] = await database.query<Record<string, unknown>>('SELECT * FROM p2p.transaction_outbox WHERE id = $1', [id]);
  return row ?? null;
}

/** Its row in a list. While a page streams, what came is there twice for a moment: hidden where it arrived, and where it belongs. */
export const shownRow = (page: Page, id: string): Locator => page.locator(`[data-event="${id}"]`).filter({ visible: true });

export interface SeenEvent {
  id: string;
  state: string;
  attempts: number | null;
  version: string;
}

/** An event as the console shows it now, with the version to hand back. */
export async function seen(api: APIRequestContext, outbox: string, id: string): Promise<SeenEvent> {
  const answer = await api.get(`/api/v1/outboxes/${outbox}/events/${id}`);
  if (!answer.ok()) throw new Error(`GET event ${id} answered ${String(answer.status())}: ${await answer.text()}`);
  const { event } = (await answer.json()) as { event: SeenEvent };
  return event;
}

/** The dead escrow events with this error text, in one reading. */
export async function seenTogether(api: APIRequestContext, error: string): Promise<SeenEvent[]> {
  const answer = await api.get('/api/v1/outboxes/escrow/events', { params: { state: 'dead', error, limit: 200 } });
  const { events } = (await answer.json()) as { events: SeenEvent[] };
  return events;
}

export interface Answer {
  status: number;
  body: {
    interventionId?: string;
    outcome?: string;
    changed?: string[];
    skipped?: { id: string; code: string }[];
    code?: string;
    because?: string;
    detail?: string;
  };
}

/** One intervention over HTTP; the key is new unless given. */
export async function intervene(
  api: APIRequestContext,
  outbox: string,
  request: {
    operation: string;
    events: { id: string; version: string }[];
    reason?: string;
    key?: string;
    headers?: Record<string, string>;
  },
): Promise<Answer> {
  const { operation, events, reason = 'a story of the tests', key = randomUUID(), headers = {} } = request;
  const answer = await api.post(`/api/v1/outboxes/${outbox}/interventions`, {
    headers: { 'idempotency-key': key, ...headers },
    data: { operation, reason, events: events.map(({ id, version }) => ({ id, version })) },
  });
  return { status: answer.status(), body: (await answer.json()) as Answer['body'] };
}

/** Plans these events over HTTP; returns the plan's id. */
export async function planEvents(
  api: APIRequestContext,
  outbox: string,
  { operation = 'archive', ids, reason = 'a story of the tests' }: { operation?: string; ids: string[]; reason?: string },
): Promise<string> {
  const answer = await api.post(`/api/v1/outboxes/${outbox}/plans`, {
    headers: { 'idempotency-key': randomUUID() },
    data: { operation, reason, source: { ids } },
  });
  if (answer.status() !== 201) throw new Error(`POST plans answered ${String(answer.status())}: ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}

/** Starts it; returns the run's id. */
export async function startPlan(api: APIRequestContext, plan: string): Promise<string> {
  const answer = await api.post(`/api/v1/plans/${plan}/run`, { headers: { 'idempotency-key': randomUUID() }, data: {} });
  if (answer.status() !== 201) throw new Error(`POST run answered ${String(answer.status())}: ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}
