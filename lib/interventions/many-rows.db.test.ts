/** The statements of a run's batch, 500 events of a large table: found by the primary key, and compared as arrays where the engine has them. */
import { freezeEvents } from '@/fixtures/batches';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRunTable, RUN_SHAPE, TWO_KEYS_SHAPE } from '@/fixtures/runs';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';
import { decodeVersion } from '@/lib/outbox/rows/version';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { BATCH_EVENTS_MAX } from '@/lib/shared/runs/runs';
import { numbersTo } from '@/scripts/testing/mysql';
import { openProven, useTestDatabaseOf, type AnyTestDatabase, type ProvenOutbox } from '@/scripts/testing/outbox';
import { intervene } from './intervene';
import type { Seen } from './operation';
import { OPERATIONS } from './operations';
import { expectedImage } from './read-back';
import { changedStatement, heldStatement, lockStatement, prepareStep, updateStatement, type LockedRow } from './statements';

const ROWS = 60_000;
async function setup(database: AnyTestDatabase): Promise<void> {
  await createRunTable(database);
  const isPostgres = database.engine === 'postgres';
  const numbers = isPostgres ? `generate_series(1, ${ROWS}) AS t (n)` : numbersTo(ROWS, 't');
  await database.query(
    `INSERT INTO mine (id, kind, agg, body, state, tries, note) SELECT n, 'paid', concat('order-', n % 5000), '{}', 3, 5, 'refused' FROM ${numbers}`,
  );
  await database.query(isPostgres ? 'CREATE TABLE mine_two (LIKE mine INCLUDING DEFAULTS)' : 'CREATE TABLE mine_two LIKE mine');
  if (!isPostgres) await database.query('ALTER TABLE mine_two DROP PRIMARY KEY');
  await database.query('ALTER TABLE mine_two ADD PRIMARY KEY (agg, id)');
  await database.query('INSERT INTO mine_two SELECT * FROM mine');
  for (const table of ['mine', 'mine_two']) await database.query(`ANALYZE ${isPostgres ? '' : 'TABLE '}${table}`);
}

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  describe.each([
    ['one', RUN_SHAPE],
    ['two', TWO_KEYS_SHAPE],
  ] as const)('with a key of %s columns', (id, shape) => {
    const database = useTestDatabaseOf(engine, setup);
    let open: ProvenOutbox;
    let events: { id: string; version: string }[];
    beforeAll(async () => {
      open = await openProven(database, shape, { table: shape.table, inline: true, id });
      const page = await freezeEvents(open.outbox, { state: ['dead'], order: 'oldest' }, null);
      events = page.events.map(({ id, version }) => ({ id, version }));
      expect(events).toHaveLength(BATCH_EVENTS_MAX);
    });
    afterAll(() => open.close());

    it('each statement finds its rows by the primary key', async () => {
      const { outbox } = open;
      const [step] = OPERATIONS.find(({ key }) => key === 'requeue')?.steps(outbox) ?? [];
      if (step === undefined) throw new Error('no step');
      const prepared = prepareStep(outbox, step);
      const seen = events.map(({ id, version }): Seen => {
        const decoded = decodeVersion(version);
        if (decoded === null) throw new Error('no version');
        return { id, version: decoded };
      });
      const locked = seen.map(({ id, version: { exact } }) => ({ id, exact })) as LockedRow[];
      const statements = [
        lockStatement(prepared, seen, 'skip locked'),
        updateStatement(prepared, seen),
        heldStatement(
          prepared,
          events.map(({ id }) => id),
          expectedImage(prepared),
        ),
        changedStatement(prepared, locked),
      ];
      await outbox.database.read(async (db) => {
        for (const statement of statements) {
          const { sql: text, parameters } = statement.compile(db);
          expect(parameters.length).toBeLessThan(engine === 'postgres' ? 10 : 65_535);
          if (engine === 'postgres') expect(text).not.toMatch(/ or /);
          const rows = await database.query<Record<string, unknown>>(`EXPLAIN ${text}`, [...parameters]);
          const plan = rows.map((row) => Object.values(row).join(' ')).join('\n');
          expect(plan, text.slice(0, 200)).toMatch(engine === 'postgres' ? /(Index|Bitmap).*_pkey/ : /PRIMARY/);
          expect(plan).not.toMatch(engine === 'postgres' ? /Seq Scan on mine/ : /\bo ALL\b/);
        }
      });
    });

    it('a whole batch is one intervention, and the same when it is sent again', async () => {
      const deps = depsFor(open.outbox, open.known);
      const [key, request] = [freshKey(), { operation: 'requeue', events, reason: 'a batch' }];
      const result = await intervene(deps, ANNA, open.outbox.id, request, key);
      expect(result).toMatchObject({ outcome: 'applied', skipped: [] });
      expect(result.changed).toHaveLength(BATCH_EVENTS_MAX);
      expect(await intervene(deps, ANNA, open.outbox.id, request, key)).toEqual(result);
      const again = await intervene(deps, ANNA, open.outbox.id, request, freshKey());
      expect(new Set(again.skipped.map(({ code }) => code))).toEqual(new Set(['changed_since_seen']));
      await expect(
        intervene(deps, ANNA, open.outbox.id, { ...request, events: [...events, { id: '7', version: 'x' }] }, freshKey()),
      ).rejects.toMatchObject({
        code: 'invalid',
      });
    });
  });
});
