/** Outboxes of tables that are odd in one way each, the same on both engines. */
import { defineShape, type ShapeInput } from '@/lib/shape/shape';
import type { EngineKey } from '@/lib/shared/model';
import { testOutbox, type TestOutbox } from '@/lib/snapshots/testing';

const COLUMNS = { id: 'id', type: 'kind', createdAt: 'created', publishedAt: 'published' };
const PUBLISHED = { state: 'published', when: { column: 'published', isNull: false } } as const;
const PENDING = { state: 'pending', when: { column: 'published', isNull: true } } as const;

/** Makes outboxes of tables on one engine; what is not said otherwise is published where a column has a time. */
export const oddOutboxes =
  (engine: EngineKey) =>
  (table: string, input: Partial<ShapeInput> = {}, overrides: Partial<TestOutbox> = {}): TestOutbox => {
    const own = { key: 'inline', label: table, origin: 'test', engines: [engine], table, columns: COLUMNS, states: [PUBLISHED, PENDING] };
    // A MySQL database is its own schema.
    const place = engine === 'mysql' ? { table } : {};
    return testOutbox(defineShape({ ...own, ...input }), 'odd', { id: table, inline: true, ...place, ...overrides });
  };

/** Who publishes takes an event first, and says so. */
export const CLAIMED: Partial<ShapeInput> = {
  columns: { ...COLUMNS, attemptedAt: 'claimed' },
  states: [
    PUBLISHED,
    {
      state: 'processing',
      when: {
        all: [
          { column: 'published', isNull: true },
          { column: 'claimed', isNull: false },
        ],
      },
    },
    PENDING,
  ],
};

/** No time says when an event was published. */
export const STATUS_ONLY: Partial<ShapeInput> = {
  columns: { id: 'id', createdAt: 'created' },
  states: [
    { state: 'published', when: { column: 'state', equals: 'done' } },
    { state: 'pending', when: { column: 'state', equals: 'new' } },
  ],
};

/** Rows go when they are published. */
export const QUEUE: Partial<ShapeInput> = {
  columns: { id: 'id', createdAt: 'created' },
  states: [{ state: 'pending', when: { column: 'id', isNull: false } }],
};
