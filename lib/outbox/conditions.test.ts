import fc from 'fast-check';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql, type RawBuilder } from 'kysely';
import { describe, expect, it } from 'vitest';
import { postgresFragments } from '@/lib/database/postgres/fragments';
import { LIVE_STATES } from '@/lib/shared/states';
import { compileCondition, disjoint, stateExpression, statePredicate, type Scope } from './conditions';
import type { Condition } from './shape';
import { courierStatus } from './shapes/courier-status';
import { escrowStatus } from './shapes/escrow-status';
import { listenNotify } from './shapes/listen-notify';

const compiler = new Kysely<Record<string, never>>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});
const scope: Scope = { fragments: postgresFragments, columns: new Map(), timeZone: 'UTC', companions: new Map(), cursor: null };
const text = (fragment: RawBuilder<unknown> | null): string | null => (fragment === null ? null : sql`${fragment}`.compile(compiler).sql);

describe('conditions', () => {
  it('writes literals, so that a partial index can be seen to be implied', () => {
    expect(text(compileCondition({ column: 'status', equals: "it's" }, 'o', scope))).toBe(`"o"."status" = 'it''s'`);
    expect(text(compileCondition({ any: [{ column: 'a', in: ['x', 2] }, { not: { column: 'b', isNull: false } }] }, 'o', scope))).toBe(
      `("o"."a" in ('x', 2) or ("o"."b" is not null) is not true)`,
    );
  });

  it('keeps a predicate as plain as its index where earlier rules cannot match', () => {
    expect(text(statePredicate(courierStatus, ['pending'], 'o', scope))).toBe(`(("o"."status" = 'PENDING'))`);
    expect(text(statePredicate(listenNotify, ['pending', 'retrying'], 'o', scope))).toBe(
      `((("o"."processed_at" is null and "o"."retry_count" > 0)) or ("o"."processed_at" is null))`,
    );
  });

  it('leaves out what an earlier rule takes: first match wins', () => {
    expect(text(statePredicate(escrowStatus, ['pending'], 'o', scope))).toBe(
      `(("o"."status" = 'pending' and (("o"."status" = 'pending' and "o"."retry_count" > 0)) is not true))`,
    );
    expect(text(statePredicate(courierStatus, ['dead'], 'o', scope))).toBeNull();
  });

  it('calls a row that no rule matches unmapped', () => {
    for (const shape of [courierStatus, escrowStatus, listenNotify])
      expect(text(stateExpression(shape, 'o', scope))).toMatch(/else 'unmapped' end$/);
    expect(text(stateExpression({ states: [] }, 'o', scope))).toBe(`'unmapped'`);
  });
});

describe('disjoint', () => {
  type Row = Record<string, string | number | null>;
  const value = fc.constantFrom('a', 'b', 1, 2);
  const leaf: fc.Arbitrary<Condition> = fc.oneof(
    fc.record({ column: fc.constantFrom('x', 'y'), equals: value }),
    fc.record({ column: fc.constantFrom('x', 'y'), isNull: fc.boolean() }),
    fc.record({ column: fc.constantFrom('x', 'y'), in: fc.array(value, { minLength: 1, maxLength: 3 }) }),
  );
  const condition: fc.Arbitrary<Condition> = fc.letrec<{ node: Condition }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 2 },
      leaf,
      fc.record({ all: fc.array(tie('node'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ any: fc.array(tie('node'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ not: tie('node') }),
    ),
  })).node;
  const holds = (test: Condition, row: Row): boolean => {
    if ('all' in test) return test.all.every((part) => holds(part, row));
    if ('any' in test) return test.any.some((part) => holds(part, row));
    if ('not' in test) return !holds(test.not, row);
    if (!('column' in test)) throw new Error('no test of a column');
    const found = row[test.column] ?? null;
    if ('isNull' in test) return (found === null) === test.isNull;
    if (found === null) return false;
    if ('in' in test) return test.in.includes(found);
    return 'equals' in test && test.equals === found;
  };

  it('never calls two conditions disjoint that one row satisfies', () => {
    const cell = fc.oneof(value, fc.constant(null));
    fc.assert(
      fc.property(condition, condition, fc.record({ x: cell, y: cell }), (left, right, row) => {
        if (disjoint(left, right)) expect(holds(left, row) && holds(right, row)).toBe(false);
      }),
    );
  });

  it('sees what the shapes of record rely on', () => {
    expect(disjoint({ column: 'status', equals: 'a' }, { column: 'status', equals: 'b' })).toBe(true);
    expect(disjoint({ column: 'at', isNull: true }, { all: [{ column: 'at', isNull: false }] })).toBe(true);
    expect(disjoint({ column: 'status', equals: 'a' }, { column: 'other', equals: 'b' })).toBe(false);
    expect(LIVE_STATES).not.toContain('archived');
  });
});
