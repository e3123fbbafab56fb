/** What the screens read from an observed table, each read by its name: every benchmark of reading measures the same ones. */
import type { Compute } from '@/lib/live/take-reading';
import type { Outbox } from '@/lib/outbox/outbox';
import { deadByCause, eventPage, listPage, liveReading } from './product';

export const DEEP_PAGE = 2_000;

/** `page` is a list of every state, `open page` one of waiting or dead events. */
export type Kind = 'reading' | 'oldest' | 'open page' | 'page' | 'causes' | 'other';

export interface Read {
  name: string;
  kind: Kind;
  run(outbox: Outbox, spots: Spots): Promise<unknown>;
}

export interface Spot {
  /** What the list is ordered by. */
  key: string;
  id: string;
  aggregate: string | null;
}

/** Rows that pages begin after. */
export interface Spots {
  /** Where the books end. */
  foldedTo: string;
  /** Computes the figures where the observed database does not. */
  compute?: Compute;
  deepNewest: Spot;
  deepOldest: Spot;
}

export const READS: readonly Read[] = [
  { name: 'live reading', kind: 'reading', run: (outbox, { foldedTo, compute }) => liveReading(outbox, foldedTo, compute) },
  {
    name: 'oldest waiting',
    kind: 'oldest',
    run: (outbox) => listPage(outbox, { state: ['pending', 'retrying'], order: 'oldest' }, undefined, 1),
  },
  { name: 'newest, page 1', kind: 'page', run: (outbox) => listPage(outbox, {}) },
  { name: `newest, page ${DEEP_PAGE}`, kind: 'page', run: (outbox, { deepNewest }) => listPage(outbox, {}, deepNewest) },
  { name: 'oldest, page 1', kind: 'page', run: (outbox) => listPage(outbox, { order: 'oldest' }) },
  { name: `oldest, page ${DEEP_PAGE}`, kind: 'page', run: (outbox, { deepOldest }) => listPage(outbox, { order: 'oldest' }, deepOldest) },
  { name: 'waiting, page 1', kind: 'open page', run: (outbox) => listPage(outbox, { state: ['pending', 'retrying'] }) },
  { name: 'dead, page 1', kind: 'open page', run: (outbox) => listPage(outbox, { state: ['dead'] }) },
  { name: 'published, page 1', kind: 'page', run: (outbox) => listPage(outbox, { state: ['published'] }) },
  {
    name: `published, page ${DEEP_PAGE}`,
    kind: 'page',
    run: (outbox, { deepNewest }) => listPage(outbox, { state: ['published'] }, deepNewest),
  },
  { name: 'frequent type, page 1', kind: 'other', run: (outbox) => listPage(outbox, { type: ['type.00'] }) },
  { name: 'rare type, page 1', kind: 'other', run: (outbox) => listPage(outbox, { type: ['type.24'] }) },
  {
    name: 'one aggregate',
    kind: 'other',
    run: (outbox, { deepNewest }) => listPage(outbox, { aggregate: deepNewest.aggregate ?? deepNewest.id }),
  },
  { name: 'dead by error text', kind: 'other', run: (outbox) => listPage(outbox, { state: ['dead'], error: 'topic 3' }) },
  { name: 'dead by cause', kind: 'causes', run: (outbox) => deadByCause(outbox) },
  { name: 'one event', kind: 'other', run: (outbox, { deepNewest }) => eventPage(outbox, deepNewest.id) },
];
