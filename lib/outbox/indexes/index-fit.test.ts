import { expect, test } from 'vitest';
import { holds } from './index-fit';
import type { Leaf } from '@/lib/shape/schema/condition';

const PENDING: Leaf[] = [{ kind: 'equals', column: 'status', equals: 'PENDING' }];
const UNPUBLISHED: Leaf[] = [{ kind: 'isNull', column: 'published_at', isNull: true }];

test.each<[string | null, Leaf[], boolean]>([
  [null, [], true],
  [`((status)::text = 'PENDING'::text)`, PENDING, true],
  [`(status = 'PENDING'::outbox_status)`, PENDING, true],
  [`(status = 'PENDING'::public."Outbox Status")`, PENDING, true],
  [`((status)::text = ANY ((ARRAY['PENDING'::character varying, 'FAILED'::character varying])::text[]))`, PENDING, true],
  [`((status)::text = 'DEAD'::text)`, PENDING, false],
  [`(status IS NOT NULL)`, PENDING, true],
  [`(published_at IS NULL)`, UNPUBLISHED, true],
  [`(published_at IS NOT NULL)`, UNPUBLISHED, false],
  [`((published_at IS NULL) AND (dead_at IS NULL))`, UNPUBLISHED, false],
  [`((published_at IS NULL) AND (dead_at IS NULL))`, [...UNPUBLISHED, { kind: 'isNull', column: 'dead_at', isNull: true }], true],
  [`((published_at IS NULL) OR (retry_count > 0))`, UNPUBLISHED, false],
  [`(retry_count > 0)`, [{ kind: 'above', column: 'retry_count', above: 0 }], true],
  [`(retry_count > 1)`, [{ kind: 'above', column: 'retry_count', above: 0 }], false],
  [`(state = ANY (ARRAY[1, 2, 3]))`, [{ kind: 'in', column: 'state', in: [1, 3] }], true],
  [`(state = ANY (ARRAY[1, 2]))`, [{ kind: 'in', column: 'state', in: [1, 3] }], false],
  [`("st(x[" = ANY (ARRAY[1, 2]))`, [{ kind: 'in', column: 'st(x[', in: [1, 2] }], false],
  [`(a$b = ANY (ARRAY[1, 2]))`, [{ kind: 'in', column: 'a$b', in: [1, 2] }], true],
  [`(kind = 'it''s'::text)`, [{ kind: 'equals', column: 'kind', equals: `it's` }], true],
])('%s holds for %j: %s', (predicate, tests, expected) => {
  expect(holds(predicate, tests)).toBe(expected);
});
