import { sql } from 'kysely';
import { hiddenFields } from '../masking/hidden-fields';
import type { Outbox } from '../outbox';
import type { PlaceSql } from '../rows/row';
import type { Sql } from './sql-terms';

/** The type of a row, cut to what a series is named after; nothing where it is masked, as figures are everybody's. */
export function typeOf(outbox: Outbox, at: PlaceSql): Sql {
  const none = at.role('type') === null || hiddenFields(outbox.settings).has('type');
  return none ? outbox.database.engine.fragments.nothing('text') : sql`left(${at.roleText('type')}, 200)`;
}
