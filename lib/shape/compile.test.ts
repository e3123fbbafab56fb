import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql, type RawBuilder } from 'kysely';
import { describe, expect, it } from 'vitest';
import { postgresFragments } from '@/lib/database/postgres/fragments';
import { compileCondition, stateExpression, statePredicate, type Scope } from './compile';
import { conditionSchema, type WrittenCondition } from './schema/condition';
import { courierStatus } from './catalog/courier-status';
import { escrowStatus } from './catalog/escrow-status';
import { listenNotify } from './catalog/listen-notify';

const compiler = new Kysely<Record<string, never>>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});
const scope: Scope = { fragments: postgresFragments, columns: new Map(), timeZone: 'UTC', companions: new Map(), cursor: null };
const parsed = (written: WrittenCondition) => conditionSchema.parse(written);
const text = (fragment: RawBuilder<unknown> | null): string | null => (fragment === null ? null : sql`${fragment}`.compile(compiler).sql);

describe('conditions', () => {
  it('writes literals, so that a partial index can be seen to be implied', () => {
    expect(text(compileCondition(parsed({ column: 'status', equals: "it's" }), 'o', scope))).toBe(`"o"."status" = 'it''s'`);
    const any = parsed({ any: [{ column: 'a', in: ['x', 2] }, { not: { column: 'b', isNull: false } }] });
    expect(text(compileCondition(any, 'o', scope))).toBe(`("o"."a" in ('x', 2) or ("o"."b" is not null) is not true)`);
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
