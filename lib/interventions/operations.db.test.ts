/** The table of operations of the five shapes of record, cell by cell, on the shapes' own sample rows. */
import { capabilitiesOf } from '@/lib/outbox/capabilities';
import { sampleOf } from '@/fixtures/samples';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { amendment } from '@/scripts/testing/amend';
import { createSample, ENGINES, insertRow, openSample, tableOf, useTestDatabaseOf, type OpenOutbox } from '@/scripts/testing/outbox';
import type { TableName } from '@/lib/database/description';
import { archiveTable, recordTables } from '@/lib/outbox/companions';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { SHAPES } from '@/lib/shape/catalog.gen';
import type { LiveState } from '@/lib/shared/states';
import type { SkipCode } from '@/lib/shared/model';
import { intervene } from './intervene';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';

type Cell = 'applied' | SkipCode;
type Row = Partial<Record<LiveState, Cell>>;

/** What the design says each operation answers to a row in each state the shape can show. */
const TABLE: Record<string, Record<string, Row>> = {
  'escrow-status': {
    retry: {
      dead: 'applied',
      retrying: 'not_supported',
      pending: 'wrong_state',
      processing: 'being_processed',
      published: 'already_published',
    },
    requeue: {
      dead: 'applied',
      retrying: 'applied',
      pending: 'wrong_state',
      processing: 'being_processed',
      published: 'already_published',
    },
    release: {
      processing: 'applied',
      dead: 'wrong_state',
      retrying: 'wrong_state',
      pending: 'wrong_state',
      published: 'already_published',
    },
    archive: { dead: 'applied', pending: 'applied', retrying: 'applied', processing: 'being_processed', published: 'already_published' },
  },
  'worker-status': {
    retry: { pending: 'not_supported', processing: 'not_supported', published: 'already_published' },
    requeue: { pending: 'not_supported', processing: 'not_supported', published: 'already_published' },
    release: { processing: 'applied', pending: 'wrong_state', published: 'already_published' },
    archive: { pending: 'applied', processing: 'being_processed', published: 'already_published' },
  },
  'published-at': {
    retry: { dead: 'applied', retrying: 'not_supported', pending: 'wrong_state', published: 'already_published' },
    requeue: { dead: 'applied', retrying: 'applied', pending: 'wrong_state', published: 'already_published' },
    release: { dead: 'not_supported', retrying: 'not_supported', pending: 'not_supported', published: 'already_published' },
    archive: { dead: 'applied', pending: 'applied', retrying: 'applied', published: 'already_published' },
  },
  'courier-status': {
    retry: { pending: 'not_supported', published: 'already_published' },
    requeue: { pending: 'not_supported', published: 'already_published' },
    release: { pending: 'not_supported', published: 'already_published' },
    archive: { pending: 'applied', published: 'already_published' },
  },
  'listen-notify': {
    retry: { retrying: 'applied', pending: 'applied', dead: 'applied', published: 'already_published' },
    requeue: { dead: 'applied', retrying: 'applied', pending: 'wrong_state', published: 'already_published' },
    release: { dead: 'not_supported', retrying: 'not_supported', pending: 'not_supported', published: 'already_published' },
    archive: { dead: 'applied', pending: 'applied', retrying: 'applied', published: 'already_published' },
  },
};

/** The columns an operation leaves behind, beside those it does not touch. */
const AFTER: Record<string, Record<string, Record<string, string | null>>> = {
  'escrow-status': {
    'retry dead': { status: 'pending', retry_count: '5' },
    'requeue dead': { status: 'pending', retry_count: '0', error_message: null },
    'requeue retrying': { status: 'pending', retry_count: '0', error_message: null },
    'release processing': { status: 'pending', retry_count: '1' },
  },
  'worker-status': { 'release processing': { status: 'PENDING' } },
  'published-at': { 'retry dead': { attempt: '9' }, 'requeue dead': { attempt: '0' }, 'requeue retrying': { attempt: '0' } },
  'listen-notify': {
    'retry dead': { retry_count: '5' },
    'retry retrying': { retry_count: '2', last_error: 'smtp: timeout' },
    'requeue dead': { retry_count: '0', last_error: null },
    'requeue retrying': { retry_count: '0', last_error: null },
  },
};

const shapes = SHAPES.filter((shape) => shape.key in TABLE);

it('speaks of every shape of record', () => {
  expect(shapes.map((shape) => shape.key).sort()).toEqual(Object.keys(TABLE).sort());
});

describe.each(shapes.flatMap((shape) => shape.engines.map((engine) => [shape.key, engine, shape] as const)))(
  '%s on %s',
  (key, engine, shape) => {
    const database = useTestDatabaseOf(engine, (db) => createSample(db, shape, { rows: false }));
    const { headers, events } = recordTables(ENGINES[engine]);
    const table = (place: 'main' | 'dead'): string => tableOf(shape, place, engine);
    const named = ({ schema, table }: TableName): string => (schema === null ? table : `${schema}.${table}`);
    const archive = named(archiveTable(ENGINES[engine], 'sample'));
    // What the table itself sets whenever a row of it changes.
    const touched = engine === 'mysql' ? ['updated_at'] : [];
    const [first, asText] = engine === 'postgres' ? ['$1', 'id::text'] : ['?', 'cast(id as char)'];
    let open: OpenOutbox;
    beforeAll(async () => {
      open = await openSample(database, shape);
    });
    afterAll(() => open.close());
    beforeEach(async () => {
      for (const name of [table('main'), archive, ...(shape.dead === undefined ? [] : [table('dead')])])
        await database.query(`TRUNCATE ${name}`);
      for (const row of sampleOf(shape).rows) await insertRow(database, table(row.in), row.values);
    });
    const sampleIn = (state: LiveState): { id: string; place: 'main' | 'dead' } => {
      const row = sampleOf(shape).rows.find((candidate) => candidate.state === state);
      return { id: String(row?.values.id), place: row?.in ?? 'main' };
    };
    const rowOf = async (place: string, id: string): Promise<Record<string, unknown> | undefined> =>
      (await database.query<Record<string, unknown>>(`SELECT * FROM ${place} WHERE ${asText} = ${first}`, [id]))[0];
    const versionOf = async (id: string): Promise<string> => (await getEvent(open.outbox, id))?.event.version ?? '';
    const act = async (operation: string, id: string, seen?: string) => {
      const events = [{ id, version: seen ?? (await versionOf(id)) }];
      return intervene(depsFor(open.outbox), ANNA, 'sample', { operation, events, reason: 'cell by cell' }, freshKey());
    };

    for (const [operation, cells] of Object.entries(TABLE[key] ?? {})) {
      for (const [state, cell] of Object.entries(cells) as [LiveState, Cell][]) {
        it(`${operation} of a ${state} event: ${cell}`, async () => {
          const { id, place } = sampleIn(state);
          const before = await rowOf(table(place), id);
          const result = await act(operation, id);
          const where = operation === 'archive' ? archive : table('main');
          if (cell === 'applied') {
            expect(result).toMatchObject({ outcome: 'applied', changed: [id], skipped: [] });
            const after = await rowOf(where, id);
            const set = AFTER[key]?.[`${operation} ${state}`] ?? {};
            for (const [name, value] of Object.entries(set))
              expect.soft(after?.[name] === null ? null : String(after?.[name]), name).toBe(value);
            for (const [name, value] of Object.entries(before ?? {}))
              if (!(name in set) && !(where === table('main') && touched.includes(name)) && after !== undefined && name in after)
                expect.soft(after[name], name).toEqual(value);
            const left = (await Promise.all([...new Set([table('main'), table(place), archive])].map((one) => rowOf(one, id)))).filter(
              (row) => row !== undefined,
            );
            expect(left, 'in exactly one place').toHaveLength(1);
          } else {
            expect(result).toMatchObject({ outcome: 'none', changed: [], skipped: [{ id, code: cell }] });
            expect(await rowOf(table(place), id)).toEqual(before);
          }
          const records = await database.query(
            `SELECT i.operation, i.outcome, i.reason, e.code, e.event_id FROM ${named(headers)} i JOIN ${named(events)} e ON e.intervention_id = i.id WHERE i.id = ${first}`,
            [result.interventionId],
          );
          expect(records).toEqual([
            { operation, outcome: result.outcome, reason: 'cell by cell', code: cell === 'applied' ? null : cell, event_id: id },
          ]);
        });
      }
    }

    it('changes no event that has another content than was seen, whatever the state says', async () => {
      let amended = 0;
      for (const [operation, cells] of Object.entries(TABLE[key] ?? {})) {
        for (const state of (Object.keys(cells) as LiveState[]).filter((one) => cells[one] === 'applied')) {
          const { id, place } = sampleIn(state);
          const seen = await versionOf(id);
          const of = place === 'dead' && open.outbox.dead !== null ? open.outbox.dead : open.outbox.main;
          await database.query(`UPDATE ${table(place)} SET ${amendment(engine, of, (amended += 1))} WHERE ${asText} = ${first}`, [id]);
          const before = await rowOf(table(place), id);
          expect
            .soft((await act(operation, id, seen)).skipped, `${operation} ${state}`)
            .toMatchObject([{ id, code: 'changed_since_seen' }]);
          expect.soft(await rowOf(table(place), id), `${operation} ${state}`).toEqual(before);
        }
      }
    });

    for (const state of shape.archive?.from ?? []) {
      if (!sampleOf(shape).rows.some((row) => row.state === state)) continue;
      it(`restore brings an archived ${state} event back`, async () => {
        const { id, place } = sampleIn(state);
        const before = await rowOf(table(place), id);
        expect((await act('archive', id)).outcome).toBe('applied');
        expect((await getEvent(open.outbox, id))?.event.state).toBe('archived');
        const result = await act('restore', id);
        expect(result).toMatchObject({ outcome: 'applied', changed: [id] });
        const asDead = state === 'pending' && shape.asDead !== undefined;
        const restored = await getEvent(open.outbox, id);
        expect(restored?.event.state).toBe(asDead ? 'dead' : state);
        const now = await rowOf(table(asDead && shape.asDead?.moveTo === 'dead' ? 'dead' : place), id);
        const rewritten = asDead ? Object.keys(shape.asDead?.set ?? {}) : [];
        for (const [name, value] of Object.entries(before ?? {}))
          if (!rewritten.includes(name)) expect.soft(now?.[name], name).toEqual(value);
        expect(await rowOf(archive, id)).toBeUndefined();
      });
    }

    it('restores nothing that is not archived, and finds nothing that is not there', async () => {
      const { id } = sampleIn('published');
      expect((await act('restore', id)).skipped).toMatchObject([{ id, code: 'wrong_state' }]);
      const missing = open.outbox.main.id[0]?.kind === 'uuid' ? '00000000-0000-4000-8000-00000000ffff' : '424242';
      expect((await act('restore', missing)).skipped).toEqual([{ id: missing, code: 'not_found' }]);
    });

    it('has no release of a young processing event', async () => {
      if (shape.key !== 'escrow-status' && shape.key !== 'worker-status')
        return expect(capabilitiesOf(open.outbox).operations.release).toMatchObject({ offered: false });
      const { id } = sampleIn('processing');
      const column = open.outbox.main.roles.attemptedAt?.column.name ?? '';
      const now = engine === 'postgres' ? `now() AT TIME ZONE 'UTC'` : 'utc_timestamp() - interval 10 second';
      await database.query(`UPDATE ${table('main')} SET ${column} = ${now} WHERE ${asText} = ${first}`, [id]);
      expect((await act('release', id)).skipped).toMatchObject([{ id, code: 'too_young' }]);
    });
  },
);

describe('a table without polling', () => {
  const shape = shapes.find(({ key }) => key === 'listen-notify');
  if (shape === undefined) throw new Error('there is no such shape');
  const database = useTestDatabaseOf('postgres', (db) => createSample(db, shape));

  it('its relay is told each event that was changed, and no other', async () => {
    const open = await openSample(database, shape);
    const relay = new pg.Client({ connectionString: database.url });
    await relay.connect();
    try {
      const told: (string | undefined)[] = [];
      relay.on('notification', ({ payload }) => told.push(payload));
      await relay.query('LISTEN outbox_events');
      const ids = sampleOf(shape).rows.map(({ values }) => String(values.id));
      const events = await Promise.all(ids.map(async (id) => ({ id, version: (await getEvent(open.outbox, id))?.event.version ?? '' })));
      const request = { operation: 'requeue', events, reason: 'they wait for ever' };
      const { changed } = await intervene(depsFor(open.outbox), ANNA, 'sample', request, freshKey());
      expect(changed.length).toBeGreaterThan(1);
      expect(changed.length).toBeLessThan(ids.length);
      // An answer comes after what was notified before it.
      await relay.query('SELECT');
      expect(told.sort()).toEqual([...changed].sort());
    } finally {
      await relay.end();
      await open.close();
    }
  });
});
