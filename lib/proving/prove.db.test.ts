/** Mappings are proven on tables nobody prepared: right ones pass and leave nothing, wrong ones are caught by name. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, openSample, type OpenOutbox } from '@/scripts/testing/outbox';
import { SHAPES } from '@/lib/outbox/shape-registry.gen';
import { shapeSchema, type Shape, type ShapeInput } from '@/lib/outbox/shape';
import type { ProofDocument, ProofResult } from '@/lib/shared/proofs';
import { prove } from './prove';

const ACTOR = { events: [], ownerUrl: null, actor: 'test' };

function mapping(input: Partial<ShapeInput> & Pick<ShapeInput, 'columns' | 'states'>): Shape {
  return shapeSchema.parse({ key: 'inline', label: 'Mine', origin: 'configuration', engines: ['postgres'], table: 'mine', ...input });
}

const told = (document: ProofDocument): string[] =>
  document.results.map(({ operation, state, verdict, because, detail }) =>
    [operation, state, verdict, because, detail].filter((part) => part !== null).join(' '),
  );
const of = (document: ProofDocument, operation: string, state?: string): ProofResult | undefined =>
  document.results.find((result) => result.operation === operation && (state === undefined || result.state === state));

describe.each(SHAPES.filter(({ proven }) => proven === 'by_tests').map((shape) => [shape.key, shape] as const))(
  'the built-in shape %s',
  (_key, shape) => {
    const database = useTestDatabase((db) => createSample(db, shape));
    let open: OpenOutbox;
    beforeAll(async () => {
      open = await openSample(database, shape);
    });
    afterAll(() => open.close());

    it('is proven with the rights of its operator alone', async () => {
      const document = await prove(open.outbox, ACTOR);
      expect(told(document).filter((line) => !line.includes('round_trips'))).toEqual([]);
      expect(document.outcome).toBe('proven');
    });
  },
);

const DDL = `CREATE TABLE mine (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text NOT NULL CHECK (kind IN ('mail', 'push')), body jsonb NOT NULL,
  state smallint NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 3), tries int NOT NULL DEFAULT 0, claimed_at timestamptz, note text,
  key text NOT NULL UNIQUE, made_at timestamptz NOT NULL DEFAULT now())`;
const MINE = {
  columns: { id: 'id', type: 'kind', payload: 'body', createdAt: 'made_at', attempts: 'tries', attemptedAt: 'claimed_at', error: 'note' },
  states: [
    { state: 'published', when: { column: 'state', equals: 2 } },
    { state: 'dead', when: { column: 'state', equals: 3 } },
    { state: 'processing', when: { column: 'state', equals: 1 } },
    {
      state: 'retrying',
      when: {
        all: [
          { column: 'state', equals: 0 },
          { column: 'tries', above: 0 },
        ],
      },
    },
    { state: 'pending', when: { column: 'state', equals: 0 } },
  ],
  operations: {
    retry: [{ from: ['dead'], version: 'exact', set: { state: { value: 0 }, tries: { value: 4 } } }],
    requeue: [{ from: ['dead'], version: 'exact', set: { state: { value: 0 }, tries: { value: 0 }, note: { value: null } } }],
    release: [
      {
        from: ['processing'],
        version: 'exact',
        olderThanStuckAfter: 'claimed_at',
        set: { state: { value: 0 }, claimed_at: { value: null } },
      },
    ],
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
} satisfies Partial<ShapeInput> & Pick<ShapeInput, 'columns' | 'states'>;

describe('a mapping of one’s own', () => {
  const database = useTestDatabase(async (db) => {
    await db.query(DDL);
    await db.query(`INSERT INTO mine (kind, body, state, key) SELECT 'mail', '{}', i % 4, 'k' || i FROM generate_series(1, 8) AS i`);
  });
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, mapping(MINE), { inline: true });
  });
  afterAll(() => open.close());

  it('is proven from every state, and shows what ran', async () => {
    const document = await prove(open.outbox, ACTOR);
    expect(told(document)).toEqual([
      'archive dead round_trips',
      'archive pending round_trips',
      'archive retrying round_trips',
      'release processing round_trips',
      'requeue dead round_trips',
      'restore dead round_trips',
      'restore pending round_trips',
      'restore retrying round_trips',
      'retry dead round_trips',
    ]);
    expect(document.outcome).toBe('proven');
    const retry = of(document, 'retry');
    expect(retry).toMatchObject({ row: { made: true }, stateBefore: 'dead', stateAfter: 'retrying' });
    expect(retry?.changed.sort()).toEqual(['state', 'tries']);
    expect(retry?.statements.map(({ text }) => text.split(' ')[0])).toEqual(['select', 'update']);
  });

  it('leaves no row, no archived row, no record and asks no counter', async () => {
    const counts = async (): Promise<unknown> =>
      database.query(`SELECT (SELECT count(*)::int FROM mine) AS rows, (SELECT count(*)::int FROM outbox_console.archive_sample) AS archived,
        (SELECT count(*)::int FROM outbox_console.intervention) AS records, (SELECT last_value::int FROM mine_id_seq) AS counter,
        (SELECT md5(string_agg(m::text, '|' ORDER BY id)) FROM mine m) AS content`);
    const before = await counts();
    await prove(open.outbox, ACTOR);
    expect(await counts()).toEqual(before);
  });
});
