/** pg-transactional-outbox itself, polling its own table: what it takes, what it has abandoned, and what an operator gives back. */
import { capabilitiesOf } from '@/lib/outbox/capabilities';
import { randomUUID } from 'node:crypto';
import {
  DatabaseSetup,
  getDisabledLogger,
  initializeMessageStorage,
  initializePollingMessageListener,
  type DatabaseClient,
  type PollingListenerConfig,
  type StoredTransactionalMessage,
  type TransactionalMessage,
} from 'pg-transactional-outbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { openProven, type ProvenOutbox } from '@/scripts/testing/outbox';
import { pgTransactionalOutbox } from '@/lib/shape/catalog/pg-transactional-outbox';
import { act, eventOf, listedByState, race, seeded, until, type Raced } from '@/fixtures/library-writers';

const logger = getDisabledLogger();
const LEASE_MS = 300;

describe('pg-transactional-outbox 0.5', () => {
  const database = useTestDatabase();
  let open: ProvenOutbox;
  const config = (): PollingListenerConfig => ({
    outboxOrInbox: 'outbox',
    dbListenerConfig: { connectionString: database.url },
    settings: {
      dbSchema: 'public',
      dbTable: 'outbox',
      nextMessagesFunctionSchema: 'public',
      nextMessagesFunctionName: 'next_outbox_messages',
      nextMessagesBatchSize: 10,
      nextMessagesLockInMs: LEASE_MS,
      nextMessagesPollingIntervalInMs: 25,
      maxAttempts: 2,
      enableMaxAttemptsProtection: true,
      enablePoisonousMessageProtection: true,
    },
  });
  const store = async (over: Partial<TransactionalMessage> = {}): Promise<string> => {
    const id = randomUUID();
    const message = { id, aggregateType: 'order', aggregateId: id, messageType: 'order.created', segment: id, payload: { order: 1 } };
    const client = { query: async (text: string, values: unknown[]) => ({ rowCount: 1, rows: await database.query(text, values) }) };
    await initializeMessageStorage(config(), logger)({ ...message, ...over }, client as unknown as DatabaseClient);
    return id;
  };
  /** Runs the library's listener until something holds, and stops it. */
  const listen = async (
    handle: (message: StoredTransactionalMessage, client: DatabaseClient) => Promise<void>,
    what: string,
    holds: () => Promise<boolean>,
  ): Promise<void> => {
    const [stop] = initializePollingMessageListener(config(), { handle }, logger);
    try {
      await until(what, holds);
    } finally {
      await stop();
    }
  };
  const rowOf = async (id: string): Promise<Record<string, unknown> | undefined> =>
    (await database.query<Record<string, unknown>>('SELECT * FROM outbox WHERE id = $1', [id]))[0];
  const isAbandoned = async (id: string): Promise<boolean> => (await rowOf(id))?.abandoned_at !== null;
  const failing = (): Promise<void> => Promise.reject(new Error('broker away'));
  const leaseIsOver = (id: string) => async (): Promise<boolean> => Number((await rowOf(id))?.locked_until ?? 0) < Date.now();

  beforeAll(async () => {
    const setup = {
      outboxOrInbox: 'outbox',
      schema: 'public',
      table: 'outbox',
      database: database.name,
      listenerRole: 'postgres',
    } as const;
    for (const statements of [
      DatabaseSetup.dropAndCreateTable(setup),
      DatabaseSetup.createPollingFunction({ ...setup, nextMessagesSchema: 'public', nextMessagesName: 'next_outbox_messages' }),
      DatabaseSetup.setupPollingIndexes({ ...setup, nextMessagesSchema: 'public', nextMessagesName: 'next_outbox_messages' }),
    ])
      await database.query(statements);
    await database.query('CREATE TABLE delivered (id uuid NOT NULL)');
    open = await openProven(database, pgTransactionalOutbox, { parameters: { maxAttempts: 2, extra: { listener: 'polling' } } });
  });
  afterAll(() => open.close());

  it('offers nothing that a replication listener would never see, until the configuration says it polls', async () => {
    for (const listener of ['unknown', 'replication']) {
      const { operations } = capabilitiesOf(await open.rebind({ parameters: { extra: { listener } } }));
      expect(operations.requeue).toEqual({ offered: false, because: 'needs_setting' });
      expect(operations.retry).toMatchObject({ offered: false });
    }
    const { operations } = capabilitiesOf(open.outbox);
    expect(operations.requeue).toMatchObject({ offered: true, from: ['dead', 'retrying'] });
    expect(operations.release).toEqual({ offered: false, because: 'claim_lapses' });
    expect(capabilitiesOf(open.outbox).keepsOrder).toBe(true);
  });

  it('shows every message in the state the library itself has it in, alone and in the list', async () => {
    const [done, dead] = [await store(), await store({ aggregateId: 'bad' })];
    await listen(
      ({ aggregateId }) => (aggregateId === 'bad' ? failing() : Promise.resolve()),
      'one done, one abandoned',
      async () => (await rowOf(done))?.processed_at !== null && (await isAbandoned(dead)),
    );
    const tried = await store();
    await listen(failing, 'one attempt', async () => Number((await rowOf(tried))?.finished_attempts) === 1);
    await until('its lease is over', leaseIsOver(tried));
    const waiting = await store();

    const expected = { [done]: 'published', [dead]: 'dead', [tried]: 'retrying', [waiting]: 'pending' };
    const listed = await listedByState(open.outbox, ['pending', 'retrying', 'processing', 'published', 'dead']);
    for (const [id, state] of Object.entries(expected)) {
      expect.soft((await eventOf(open.outbox, id))?.state, id).toBe(state);
      for (const [other, ids] of Object.entries(listed)) expect.soft(ids.includes(id), `${id} in ${other}`).toBe(other === state);
    }
    // What the library takes next, asked of its own function.
    const next = await database.query<{ ids: string[] | null }>(
      `WITH taken AS (SELECT id FROM next_outbox_messages(100, 1)) SELECT array_agg(id::text) AS ids FROM taken`,
    );
    expect(next[0]?.ids?.sort()).toEqual([tried, waiting].sort());

    let look: () => void = () => undefined;
    const looked = new Promise<void>((resolve) => (look = resolve));
    const held = await store();
    await listen(
      ({ id }) => (id === held ? looked : Promise.resolve()),
      'looked at while it is worked on',
      async () => {
        const event = await eventOf(open.outbox, held);
        if (event?.state !== 'processing') return false;
        for (const operation of ['retry', 'requeue', 'archive']) {
          const attempt = async () => (await act(open, operation, held)).skipped[0]?.code;
          // The library may take it anew between look and change: then it is looked at again.
          let code = await attempt();
          while (code === 'changed_since_seen') code = await attempt();
          // Past its short lease it waits again by its row, and the handler's own lock still holds it.
          expect(['being_processed', 'locked', 'not_supported']).toContain(code);
        }
        look();
        return true;
      },
    );
  });

  it('has a requeued abandoned message delivered again, with all its attempts', async () => {
    const id = await store();
    let attempts = 0;
    const counting = (message: StoredTransactionalMessage): Promise<void> => {
      if (message.id === id) attempts++;
      return failing();
    };
    await listen(counting, 'abandoned', () => isAbandoned(id));
    expect(attempts).toBe(2);
    expect((await act(open, 'requeue', id)).changed).toEqual([id]);
    await listen(counting, 'abandoned again', () => isAbandoned(id));
    expect(attempts).toBe(4);
    expect((await act(open, 'requeue', id)).changed).toEqual([id]);
    await listen(
      () => Promise.resolve(),
      'processed',
      async () => (await rowOf(id))?.processed_at !== null,
    );
    expect((await eventOf(open.outbox, id))?.state).toBe('published');
  });

  it('gives a retried abandoned message one more attempt, and no more', async () => {
    const id = await store();
    let attempts = 0;
    const counting = (message: StoredTransactionalMessage): Promise<void> => {
      if (message.id === id) attempts++;
      return failing();
    };
    await listen(counting, 'abandoned', () => isAbandoned(id));
    attempts = 0;
    expect((await act(open, 'retry', id)).outcome).toBe('applied');
    await listen(counting, 'abandoned again', () => isAbandoned(id));
    expect(attempts).toBe(1);
    expect(await rowOf(id)).toMatchObject({ started_attempts: 2, finished_attempts: 2 });
  });

  it('lets the rest of a segment go once its stuck message is taken out', async () => {
    const [first, second] = [await store({ segment: 's' }), await store({ segment: 's' })];
    const taken = (): Promise<{ id: string }[]> => database.query(`SELECT id::text FROM next_outbox_messages(100, 1) WHERE segment = 's'`);
    expect(await taken()).toEqual([{ id: first }]);
    await until('its lease is over', leaseIsOver(first));
    expect((await act(open, 'archive', first)).outcome).toBe('applied');
    expect(await taken()).toEqual([{ id: second }]);
  });

  it('loses nothing and doubles nothing while operators and workers race', async () => {
    const MESSAGES = 120;
    const random = seeded(5);
    await database.query('DELETE FROM outbox');
    const ids: string[] = [];
    for (let message = 0; message < MESSAGES; message++) ids.push(await store());
    const moves = [
      ['requeue', 'dead'],
      ['archive', 'dead'],
      ['retry', 'dead'],
      ['archive', 'pending'],
      ['requeue', 'retrying'],
    ] as const;
    const end = Date.now() + 5_000;
    const isOver = (): boolean => Date.now() > end;
    const operators = Promise.all([race(open, moves, isOver, random), race(open, [...moves].reverse(), isOver, random)]);
    await listen(
      async (message, client) => {
        await client.query('INSERT INTO delivered VALUES ($1)', [message.id]);
        await new Promise((resolve) => setTimeout(resolve, random() * 20));
        if (random() < 0.6) throw new Error('by chance');
      },
      'the time is up',
      () => Promise.resolve(isOver()),
    );
    const raced: Raced[] = await operators;

    const kept = await database.query<{ id: string; done: boolean }>('SELECT id::text, processed_at IS NOT NULL AS done FROM outbox');
    const archived = await database.query<{ id: string }>('SELECT id::text FROM outbox_console.archive_sample WHERE id = ANY ($1)', [ids]);
    const delivered = await database.query<{ id: string }>('SELECT id::text FROM delivered');
    const places = [...kept, ...archived].map((row) => row.id);
    expect(new Set(places).size, 'every message is somewhere').toBe(MESSAGES);
    expect(places, 'and in one place').toHaveLength(MESSAGES);
    // What a handler did stands and falls with the library's own mark.
    expect(delivered.map((row) => row.id).sort(), 'delivered once each, and nothing that was taken out').toEqual(
      kept.flatMap((row) => (row.done ? [row.id] : [])).sort(),
    );
    const changes = (operation: string): string[] => raced.flatMap((one) => one.changed[operation] ?? []);
    for (const operation of ['requeue', 'archive']) expect(changes(operation).length, operation).toBeGreaterThan(0);
    expect(changes('archive').sort()).toEqual(archived.map((row) => row.id).sort());
  });
});
