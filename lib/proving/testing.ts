/** A table that no library made, its mapping, and what tests ask of proofs. */
import { shapeSchema, type Shape, type ShapeInput } from '@/lib/shape/shape';
import type { ProofDocument, ProofResult } from '@/lib/shared/changes/proofs';

type Mapped = Partial<ShapeInput> & Pick<ShapeInput, 'columns' | 'states'>;

/** A mapping as the configuration would give it. */
export function mapping(input: Mapped): Shape {
  return shapeSchema.parse({ key: 'inline', label: 'Mine', origin: 'configuration', engines: ['postgres'], table: 'mine', ...input });
}

export const MINE_DDL = `CREATE TABLE mine (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text NOT NULL CHECK (kind IN ('mail', 'push')), body jsonb NOT NULL,
  state smallint NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 3), tries int NOT NULL DEFAULT 0, claimed_at timestamptz, note text,
  key text NOT NULL UNIQUE, made_at timestamptz NOT NULL DEFAULT now())`;

export const MINE = {
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
} satisfies Mapped;

/** One line per result. */
export function told(document: ProofDocument): string[] {
  return document.results.map(({ operation, state, verdict, because, detail }) =>
    [operation, state, verdict, because, detail].filter((part) => part !== null).join(' '),
  );
}

export function resultOf(document: ProofDocument, operation: string): ProofResult | undefined {
  return document.results.find((result) => result.operation === operation);
}
