/** The table of operations of the five shapes of record, cell by cell, on the shapes' own sample rows. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, insertRow, openSample, tableOf, type OpenOutbox } from '@/scripts/testing/outbox';
import { getEvent } from '@/lib/outbox/get-event';
import { SHAPES } from '@/lib/outbox/shape-registry.gen';
import type { LiveState } from '@/lib/shared/states';
import type { SkipCode } from '@/lib/shared/model';
import { intervene } from './intervene';
import { ANNA, depsFor, freshKey } from './testing';

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

describe.each(shapes.map((shape) => [shape.key, shape] as const))('%s', (key, shape) => {
  const database = useTestDatabase((db) => createSample(db, shape, { rows: false }));
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, shape);
  });
  afterAll(() => open.close());
  beforeEach(async () => {
    await database.query(
      `TRUNCATE ${tableOf(shape, 'main')}, outbox_console.archive_sample ${shape.dead === undefined ? '' : `, ${tableOf(shape, 'dead')}`}`,
    );
    for (const row of shape.sample?.rows ?? []) await insertRow(database, tableOf(shape, row.in), row.values);
  });
  const sampleIn = (state: LiveState): { id: string; place: 'main' | 'dead' } => {
    const row = shape.sample?.rows.find((candidate) => candidate.state === state);
    return { id: String(row?.values.id), place: row?.in ?? 'main' };
  };
  const rowOf = async (place: string, id: string): Promise<Record<string, unknown> | undefined> =>
    (await database.query<Record<string, unknown>>(`SELECT * FROM ${place} WHERE id::text = $1`, [id]))[0];
  const act = async (operation: string, id: string) => {
    const stored = await getEvent(open.outbox, id);
    return intervene(
      depsFor(open.outbox),
      ANNA,
      'sample',
      { operation, events: [{ id, version: stored?.event.version ?? '' }], reason: 'cell by cell' },
      freshKey(),
    );
  };

  for (const [operation, cells] of Object.entries(TABLE[key] ?? {})) {
    for (const [state, cell] of Object.entries(cells) as [LiveState, Cell][]) {
      it(`${operation} of a ${state} event: ${cell}`, async () => {
        const { id, place } = sampleIn(state);
        const before = await rowOf(tableOf(shape, place), id);
        const result = await act(operation, id);
        const where = operation === 'archive' ? 'outbox_console.archive_sample' : tableOf(shape, 'main');
        if (cell === 'applied') {
          expect(result).toMatchObject({ outcome: 'applied', changed: [id], skipped: [] });
          const after = await rowOf(where, id);
          const set = AFTER[key]?.[`${operation} ${state}`] ?? {};
          for (const [name, value] of Object.entries(set))
            expect.soft(after?.[name] === null ? null : String(after?.[name]), name).toBe(value);
          for (const [name, value] of Object.entries(before ?? {}))
            if (!(name in set) && after !== undefined && name in after) expect.soft(after[name], name).toEqual(value);
          const left = (
            await Promise.all(
              [...new Set([tableOf(shape, 'main'), tableOf(shape, place), 'outbox_console.archive_sample'])].map((table) =>
                rowOf(table, id),
              ),
            )
          ).filter((row) => row !== undefined);
          expect(left, 'in exactly one place').toHaveLength(1);
        } else {
          expect(result).toMatchObject({ outcome: 'none', changed: [], skipped: [{ id, code: cell }] });
          expect(await rowOf(tableOf(shape, place), id)).toEqual(before);
        }
        const records = await database.query(
          `SELECT i.operation, i.outcome, i.reason, e.code, e.event_id FROM outbox_console.intervention i JOIN outbox_console.intervention_event e ON e.intervention_id = i.id WHERE i.id = $1`,
          [result.interventionId],
        );
        expect(records).toEqual([
          { operation, outcome: result.outcome, reason: 'cell by cell', code: cell === 'applied' ? null : cell, event_id: id },
        ]);
      });
    }
  }

  for (const state of shape.archive?.from ?? []) {
    if (!shape.sample?.rows.some((row) => row.state === state)) continue;
    it(`restore brings an archived ${state} event back`, async () => {
      const { id, place } = sampleIn(state);
      const before = await rowOf(tableOf(shape, place), id);
      expect((await act('archive', id)).outcome).toBe('applied');
      expect((await getEvent(open.outbox, id))?.event.state).toBe('archived');
      const result = await act('restore', id);
      expect(result).toMatchObject({ outcome: 'applied', changed: [id] });
      const asDead = state === 'pending' && shape.asDead !== undefined;
      const restored = await getEvent(open.outbox, id);
      expect(restored?.event.state).toBe(asDead ? 'dead' : state);
      const now = await rowOf(tableOf(shape, asDead && shape.asDead?.moveTo === 'dead' ? 'dead' : place), id);
      const rewritten = asDead ? Object.keys(shape.asDead?.set ?? {}) : [];
      for (const [name, value] of Object.entries(before ?? {}))
        if (!rewritten.includes(name)) expect.soft(now?.[name], name).toEqual(value);
      expect(await rowOf('outbox_console.archive_sample', id)).toBeUndefined();
    });
  }

  it('restores nothing that is not archived, and finds nothing that is not there', async () => {
    const { id } = sampleIn('published');
    expect((await act('restore', id)).skipped).toMatchObject([{ id, code: 'wrong_state' }]);
    const missing = open.outbox.main.roles.id?.column.kind === 'uuid' ? '00000000-0000-4000-8000-00000000ffff' : '424242';
    expect((await act('restore', missing)).skipped).toEqual([{ id: missing, code: 'not_found' }]);
  });

  it('has no release of a young processing event', async () => {
    if (shape.key !== 'escrow-status' && shape.key !== 'worker-status')
      return expect(open.outbox.capabilities.operations.release).toMatchObject({ offered: false });
    const { id } = sampleIn('processing');
    const column = open.outbox.main.roles.attemptedAt?.column.name ?? '';
    await database.query(`UPDATE ${tableOf(shape, 'main')} SET ${column} = now() AT TIME ZONE 'UTC' WHERE id::text = $1`, [id]);
    expect((await act('release', id)).skipped).toMatchObject([{ id, code: 'too_young' }]);
  });
});
