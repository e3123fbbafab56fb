/** Which published rows are past their retention, for the purge that a person runs. */
import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import { fitBlocks, fitWalk } from '@/lib/outbox/indexes/index-fit';
import type { Outbox } from '@/lib/outbox/outbox';
import { timeColumn } from '@/lib/outbox/scan/traits';
import { compileCondition, statePredicate } from '@/lib/shape/compile';
import { commonTests, notNull } from '@/lib/shape/reason';
import type { LiveState } from '@/lib/shared/states';
import { DAY_MS, type OldRows } from './facts';
import { isSmall } from './rows';

export const KEEP_DAYS = 30;
const PUBLISHED: readonly LiveState[] = ['published'];

/** In the order of an index, so that no batch reads more than it deletes. Only compiles SQL: nothing is sent to `db`. */
export function oldRows({ main, shape, scope }: Outbox, db: Db): OldRows {
  const alias = main.table.table;
  const [published, created] = [timeColumn(main, 'publishedAt'), timeColumn(main, 'createdAt')];
  const isPublished = statePredicate(shape, PUBLISHED, alias, scope);
  if (published === null || isPublished === null) return 'no_time';
  const tests = [...commonTests(shape, PUBLISHED), notNull(published)];
  const byPublished = fitWalk(main, published, tests, false);
  // An event is created before it is published: the index of creation ends where the younger ones begin.
  const byCreated = byPublished !== null || created === null ? null : fitWalk(main, created, tests, false);
  const walk = byPublished ?? byCreated;
  if (walk === null && !isSmall(main) && !fitBlocks(main, published, tests)) return 'no_index';
  const isOld = [published, ...(byCreated === null ? [] : [created ?? published])].map((column) =>
    compileCondition({ kind: 'olderThan', column, olderThan: (KEEP_DAYS * DAY_MS) / 1_000 }, alias, scope),
  );
  // Where several rules say `published`, what all of them ask is said apart, so that the planner sees the column the index leads with.
  const rules = shape.states.filter(({ state }) => state === 'published').length;
  const common = rules > 1 ? commonTests(shape, PUBLISHED).map((test) => compileCondition(test, alias, scope)) : [];
  const where = sql.join([...common, isPublished, ...isOld], sql` and `);
  const lead = walk?.leftOut == null ? sql`` : sql`${sql.id(alias, walk.leftOut)}, `;
  const order = walk === null ? sql`` : sql` order by ${lead}${walk.order(alias, 'asc')}`;
  const compiled = sql`${where}${order}`.compile(db);
  return compiled.parameters.length === 0 ? { where: compiled.sql } : 'no_time';
}
