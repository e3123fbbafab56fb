import { sql, type RawBuilder } from 'kysely';
import { DatabaseFailure } from '@/lib/database/failure';
import type { Path } from '@/lib/shared/lists/document-path';
import { compileCondition } from '@/lib/shape/compile';
import type { MappingProblem } from '@/lib/shape/bind/table';
import { listOrder } from '../lists/order';
import { mergedRows } from '../lists/sql';
import { walksOf } from '../lists/walks';
import { livePlaces, type Outbox } from '../outbox';
import { placeSql } from '../rows/row';
import { COLUMN_ROLES } from '@/lib/shape/shape';

/** Failures that say something against the statement itself; a right that is missing is said elsewhere. */
const AGAINST_STATEMENT: DatabaseFailure['code'][] = ['other', 'outdated', 'bad_value', 'missing'];

/**
 * What the database itself says against reading a table by its mapping: a text compared with a number, a value that its type
 * does not have. One statement that reads no row; what it is about is looked for only when it is refused. [] when nothing is.
 * Throws DatabaseFailure when the database does not answer.
 */
export async function refusedReadings(outbox: Outbox): Promise<MappingProblem[]> {
  const { walks } = walksOf(outbox, listOrder(outbox), {});
  const page = mergedRows(outbox, walks, { stretch: 'keyed', direction: 'newest', after: null, until: null, limit: 0 });
  const whole = page === null ? null : await refusal(outbox, page);
  if (whole === null) return [];
  const found: MappingProblem[] = [];
  for (const { path, statement } of partsOf(outbox)) {
    const message = await refusal(outbox, statement);
    if (message !== null) found.push({ path, message });
  }
  return found.length > 0 ? found : [{ path: ['shape'], message: whole }];
}

function partsOf(outbox: Outbox): { path: Path; statement: RawBuilder<unknown> }[] {
  const { shape, main, scope } = outbox;
  const at = placeSql(outbox, main);
  const tested = (condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`select 1 from ${at.from} where (${condition}) and 1 = 0`;
  return [
    ...shape.states.map(({ when }, index) => ({
      path: ['shape', 'states', index, 'when'],
      statement: tested(compileCondition(when, at.alias, scope)),
    })),
    ...(at.rows === null ? [] : [{ path: ['shape', 'rows'], statement: tested(at.rows) }]),
    ...livePlaces(outbox).flatMap((place) => {
      const columns = placeSql(outbox, place);
      const above = place.key === 'main' ? ['shape', 'columns'] : ['shape', 'dead', 'columns'];
      return COLUMN_ROLES.flatMap((role) =>
        role === 'id' || place.roles[role] === undefined
          ? []
          : [{ path: [...above, role], statement: sql`select ${columns.roleText(role)} from ${columns.from} where 1 = 0` }],
      );
    }),
  ];
}

/** What the database says against a statement; null when it takes it. It speaks of the mapping's own words: no row is read. */
async function refusal(outbox: Outbox, statement: RawBuilder<unknown>): Promise<string | null> {
  try {
    await outbox.database.read((db) => statement.execute(db));
    return null;
  } catch (error) {
    if (!(error instanceof DatabaseFailure) || !AGAINST_STATEMENT.includes(error.code)) throw error;
    const said = error.cause instanceof Error ? error.cause.message : (error.state ?? error.code);
    return `the database cannot read the table this way: ${said}${error.outdated === null ? '' : ` (${error.outdated})`}`;
  }
}
