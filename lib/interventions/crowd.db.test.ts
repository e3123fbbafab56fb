/** A thousand interventions at once, of several consoles, on the engine whose locks reach furthest. */
import { freezeEvents } from '@/fixtures/batches';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DatabaseFailure } from '@/lib/database/failure';
import { openDatabase, type Database } from '@/lib/database/database';
import { bindOutbox } from '@/lib/outbox/bind';
import type { Outbox } from '@/lib/outbox/outbox';
import { namastackOutboxRecord } from '@/lib/shape/catalog/namastack-outbox-record';
import type { Shape } from '@/lib/shape/shape';
import { Problem } from '@/lib/shared/problems';
import { createSample, openProven, useTestDatabaseOf, type ProvenOutbox } from '@/scripts/testing/outbox';
import { intervene } from './intervene';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';

const shape: Shape = { ...namastackOutboxRecord, archive: { from: ['dead', 'pending', 'retrying'], warnings: [] } };
const INTERVENTIONS = 1_000;
const CONSOLES = 7;
/** Three for every two interventions. */
const ROWS = (INTERVENTIONS / 2) * 3;

const database = useTestDatabaseOf('mysql', (db) => createSample(db, shape, { rows: false }));
let open: ProvenOutbox;
const consoles: Database[] = [];
let outboxes: Outbox[];
beforeAll(async () => {
  open = await openProven(database, shape);
  const login = (name: string): string => database.urlFor(`${name}_${database.name}`, 'test');
  for (let n = 0; n < CONSOLES; n += 1) consoles.push(openDatabase({ id: 'test', url: login('r'), operatorUrl: login('o') }));
  outboxes = await Promise.all(consoles.map((one) => bindOutbox(open.outbox.settings, one, open.known)));
  const rows = Array.from({ length: ROWS }, (_, n) => `('job-${n}', 'order-${n % 5}', 't', '{}', '{}', 1, 'FAILED', '2026-01-01 00:00:00', NULL, 3, 'down', '2026-01-01 00:00:10', 'h')`); // prettier-ignore
  await database.query(
    `INSERT INTO outbox_record (id, record_key, record_type, payload, context, partition_no, status, created_at, completed_at, failure_count, failure_reason, next_retry_at, handler_id) VALUES ${rows.join(', ')}`,
  );
});
afterAll(async () => {
  await Promise.all(consoles.map((one) => one.close()));
  await open.close();
});

it('none of a thousand interventions at once is answered with a deadlock, and each event is changed once', async () => {
  const events: { id: string; version: string }[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await freezeEvents(open.outbox, { state: ['dead'] }, null, cursor);
    events.push(...page.events);
    cursor = page.nextCursor;
  }
  expect(events).toHaveLength(ROWS);
  const answers: Record<string, number> = {};
  const changed: string[] = [];
  const count = (code: string): void => void (answers[code] = (answers[code] ?? 0) + 1);
  /** Two consoles each want the same three events, one from either end: what the one holds the other waits for. */
  const one = async (n: number): Promise<void> => {
    const outbox = outboxes[n % CONSOLES] ?? open.outbox;
    const own = events.slice(3 * Math.floor(n / 2), 3 * Math.floor(n / 2) + 3);
    const request = {
      operation: n % 3 === 0 ? 'archive' : 'requeue',
      events: (n % 2 === 0 ? own : own.toReversed()).map(({ id, version }) => ({ id, version })),
      reason: 'a crowd',
    };
    try {
      const result = await intervene(depsFor(outbox, open.known), ANNA, 'sample', request, freshKey());
      changed.push(...result.changed);
      for (const { code } of result.skipped) count(code);
    } catch (error) {
      const cause = error instanceof Problem ? error.cause : error;
      // There are four connections for each console: whoever stood in line for too long comes again.
      if (cause instanceof DatabaseFailure && cause.code === 'busy') return one(n);
      count(`problem: ${cause instanceof DatabaseFailure ? `${cause.code} ${cause.state}` : String(error)}`);
    }
  };
  await Promise.all(Array.from({ length: INTERVENTIONS }, (_, n) => one(n)));
  expect(Object.keys(answers).filter((code) => code.startsWith('problem'))).toEqual([]);
  expect(new Set(changed).size).toBe(changed.length);
  expect(changed.length).toBeGreaterThan(ROWS * 0.9);
  const recorded = await database.query<{ event_id: string }>('SELECT event_id FROM outbox_console_intervention_event WHERE code IS NULL');
  expect(recorded.map(({ event_id: id }) => id).sort()).toEqual(changed.sort());
});
