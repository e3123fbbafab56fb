/** What real tables hold that no design mentions: it is shown, paged and read, and never takes a page down. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, openSample, settingsFor, type OpenOutbox } from '@/scripts/testing/outbox';
import { openDatabase } from '@/lib/database/database';
import { applyInstall } from '@/lib/interventions/install/install';
import { bindOutbox } from './bind';
import { newestDead } from './lists/dead-letters';
import { contentOf } from './rows/event-content';
import { getEvent } from './rows/get-event';
import { maskErrors } from './masking/hidden-in-errors';
import { listEvents } from './lists/list-events';
import { neighboursOf } from './lists/neighbours';
import { shapeSchema } from '@/lib/shape/shape';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';

const TABLE = 'p2p.transaction_outbox';
const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

describe('hostile rows', () => {
  const database = useTestDatabase(async (db) => {
    await createSample(db, escrowStatus, { rows: false });
    await db.query(
      `ALTER TABLE ${TABLE} ALTER create_time DROP NOT NULL, ALTER payload DROP NOT NULL, ALTER transaction_type DROP NOT NULL, ALTER transaction_ref_id DROP NOT NULL, ALTER idempotency_key DROP NOT NULL, ALTER status DROP NOT NULL`,
    );
    const insert = (n: number, columns: string, values: string) =>
      db.query(`INSERT INTO ${TABLE} (id, ${columns}) VALUES ('${id(n)}', ${values})`);
    await insert(1, 'status, create_time', `'quarantined', now()`);
    await insert(2, 'status, create_time', `NULL, NULL`);
    await insert(3, 'status, create_time, processed_time', `'processed', '-infinity', 'infinity'`);
    await insert(4, 'status, create_time', `'pending', '294276-01-01'`);
    await insert(5, 'status, create_time', `'pending', '0044-03-15 BC'`);
    await insert(
      6,
      'status, create_time, payload',
      `'pending', now(), jsonb_build_object('big', repeat('x', 3000000), 'n', 12345678901234567890)`,
    );
    await insert(
      7,
      'status, create_time, error_message, transaction_type',
      `'failed', now(), E'<script>alert(1)</script>\\u202e\\n\\t%_\\\\', '"; DROP TABLE x; --'`,
    );
    await insert(8, 'status, create_time, retry_count', `'failed', now(), 2147483647`);
    await insert(9, 'status, create_time', `'PENDING', now()`);
    await insert(10, 'status, create_time, transaction_ref_id', `'pending', NULL, 'order-1'`);
    await insert(11, 'status, create_time, transaction_ref_id', `'processed', NULL, 'order-1'`);
  });
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, escrowStatus);
  });
  afterAll(() => open.close());

  it('are all listed once, page by page, both ways round', async () => {
    for (const order of ['newest', 'oldest'] as const) {
      const walked: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await listEvents(open.outbox, { order }, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
        walked.push(...page.events.map((event) => event.id));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined && walked.length < 50);
      expect([...walked].sort()).toEqual(Array.from({ length: 11 }, (_, index) => id(index + 1)));
    }
  });

  it('are unmapped where no rule speaks of their status, case included', async () => {
    for (const n of [1, 2, 9]) expect((await getEvent(open.outbox, id(n)))?.event.state).toBe('unmapped');
  });

  it('have no time where the calendar has none', async () => {
    for (const n of [3, 4, 5]) expect((await getEvent(open.outbox, id(n)))?.event.createdAt).toBeNull();
  });

  it('are left unread with their size said until somebody asks, and never hashed whole for a list', async () => {
    const stored = await getEvent(open.outbox, id(6));
    if (stored === null) throw new Error('There is no such event');
    const { payload } = await contentOf(open.outbox, stored, false);
    expect(payload).toMatchObject({ head: null, unread: 'on_request' });
    const { payload: whole } = await contentOf(open.outbox, stored, true);
    expect(whole.bytes).toBeGreaterThan(3_000_000);
    expect(whole.head?.length).toBe(whole.bytes);
    expect((await listEvents(open.outbox, {}, { limit: 50 })).events).toHaveLength(11);
  });

  it('are found by what their error says, wildcards taken literally', async () => {
    const found = async (error: string) => (await listEvents(open.outbox, { error }, { limit: 50 })).events.map((event) => event.id);
    expect(await found('%_\\')).toEqual([id(7)]);
    expect(await found('SCRIPT>ALERT')).toEqual([id(7)]);
    expect(await found('%')).toEqual([id(7)]);
    expect(await found('_x')).toEqual([]);
    expect(await newestDead(open.outbox, true)).toHaveLength(2);
  });

  it('have neighbours even without times', async () => {
    const stored = await getEvent(open.outbox, id(10));
    expect(stored === null ? null : (await neighboursOf(open.outbox, stored.event)).neighbours).toEqual([]);
  });

  it('answer injection through every filter with nothing but no rows', async () => {
    for (const attack of ["' OR 1=1 --", '"; DROP TABLE x; --', '$1', '\\', "\u202e' --", '%00']) {
      expect((await listEvents(open.outbox, { q: attack }, { limit: 5 })).events.length).toBe(0);
      expect((await listEvents(open.outbox, { aggregate: attack }, { limit: 5 })).events.length).toBe(0);
      await listEvents(open.outbox, { type: [attack], error: attack }, { limit: 5 });
    }
    expect(await database.query(`SELECT count(*)::int AS n FROM ${TABLE}`)).toEqual([{ n: 11 }]);
  });
});

describe('an error that quotes what is masked', () => {
  const database = useTestDatabase(async (db) => {
    await createSample(db, escrowStatus, { rows: false });
    await db.query(
      `INSERT INTO ${TABLE} (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, error_message) VALUES
        ('${id(1)}', 'k', 't', 'r', 'failed', '{"who": {"name": "CANARY-NAME"}}', 'no account for CANARY-NAME, tried canary@example.com'), ('${id(2)}', 'k', 't', 'r', 'failed', '{}', 'node down')`,
    );
  });

  it('is masked in a list as on the page', async () => {
    const open = await openSample(database, escrowStatus, { mask: ['payload.who.name'] });
    const { events } = await listEvents(open.outbox, { order: 'oldest' }, { limit: 5 });
    expect((await maskErrors(open.outbox, events)).map((event) => event.error).sort()).toEqual([
      'no account for ••••, tried ••••',
      'node down',
    ]);
    await open.close();
  });
});

describe('binding', () => {
  const database = useTestDatabase(async (db) => {
    await db.query('CREATE TABLE jobs (code text, body text, done boolean)');
    await createSample(db, escrowStatus);
  });
  const opened = (): ReturnType<typeof openDatabase> => openDatabase({ id: 'test', url: database.url });

  it('says which column is missing, or that the table is', async () => {
    const db = opened();
    await expect(bindOutbox(settingsFor(escrowStatus, { table: 'jobs' }), db)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('transaction_type') as string,
    });
    await expect(bindOutbox(settingsFor(escrowStatus, { table: 'p2p.nothing' }), db)).rejects.toMatchObject({ code: 'not_found' });
    await db.close();
  });

  it('keeps an outbox read-only and says why', async () => {
    const db = opened();
    expect((await bindOutbox(settingsFor(escrowStatus), db)).whyReadOnly).toBe('no_operator_url');
    await db.close();
    const both = openDatabase({ id: 'test', url: database.url, operatorUrl: database.url });
    expect((await bindOutbox(settingsFor(escrowStatus), both)).whyReadOnly).toBe('not_installed');
    const inline = shapeSchema.parse({
      key: 'inline',
      label: 'Jobs',
      origin: 'configuration',
      engines: ['postgres'],
      table: 'jobs',
      columns: { id: 'code', payload: 'body' },
      states: [
        { state: 'published', when: { column: 'done', equals: true } },
        { state: 'pending', when: { not: { column: 'done', equals: true } } },
      ],
    });
    await database.query('ALTER TABLE jobs ADD PRIMARY KEY (code)');
    await database.query(`INSERT INTO jobs VALUES ('a', '{}', true), ('b', NULL, NULL), ('c', 'x', false)`);
    const jobs = await bindOutbox(settingsFor(inline, { table: 'jobs', inline: true }), both);
    expect(jobs.whyReadOnly).toBe('not_installed');
    await applyInstall(jobs, database.url);
    const installed = await bindOutbox(settingsFor(inline, { table: 'jobs', inline: true }), both);
    expect(installed.whyReadOnly).toBe('mapping_not_proven');
    expect((await listEvents(jobs, {}, { limit: 10 })).events.map((event) => [event.id, event.state])).toEqual([
      ['c', 'pending'],
      ['b', 'pending'],
      ['a', 'published'],
    ]);
    await both.close();
  });

  it('refuses changes without a primary key', async () => {
    const both = openDatabase({ id: 'test', url: database.url, operatorUrl: database.url });
    await database.query('ALTER TABLE p2p.transaction_outbox DROP CONSTRAINT transaction_outbox_pkey');
    expect((await bindOutbox(settingsFor(escrowStatus), both)).whyReadOnly).toBe('no_primary_key');
    await both.close();
  });
});
