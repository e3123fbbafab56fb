/** Why an outbox cannot be changed from here. Every door asks this one answer. */
import type { Db } from '@/lib/database/description';
import type { ReadOnlyReason } from '@/lib/shared/changes/read-only';
import { ARCHIVE_COLUMNS } from '../companions';
import type { Outbox } from '../outbox';
import { placeColumns, type Place } from '@/lib/shape/bound';
import { operatorLacks, operatorSaysItLacks } from './operator-rights';

type Bound = Omit<Outbox, 'capabilities' | 'writable' | 'whyReadOnly'>;

/** What stands in the way of changes, what has to be put right first before what depends on it; null when nothing does. */
export async function readOnlyReason(outbox: Bound, db: Db): Promise<ReadOnlyReason | null> {
  if (outbox.database.write === null) return 'no_operator_url';
  if (!hasUniqueId(outbox.main) || (outbox.dead !== null && !hasUniqueId(outbox.dead))) return 'no_primary_key';
  if ([outbox.rules.main, outbox.rules.dead].some((rules) => rules?.transactional === false)) return 'not_transactional';
  if (await outbox.database.engine.logsStatements(db)) return 'statement_binlog';
  if (outbox.archive === null || outbox.records === 'absent') return 'not_installed';
  if (outbox.records !== 'countable') return 'reinstall_needed';
  const { archive } = outbox;
  const expected = [
    ...Object.values(ARCHIVE_COLUMNS),
    ...placeColumns(outbox.main),
    ...(outbox.dead === null ? [] : placeColumns(outbox.dead)),
  ];
  if (expected.some((name) => !archive.description.columns.has(name))) return 'companions_out_of_date';
  if (((await operatorLacks(outbox, db)) ?? []).length > 0) return 'no_grant';
  return outbox.proof.why;
}

/** The reason, completed by what only the operator's own login can tell: where rights of others cannot be looked up. */
export async function withOwnRights(outbox: Outbox): Promise<ReadOnlyReason | null> {
  const { whyReadOnly } = outbox;
  const decided = whyReadOnly !== null && whyReadOnly !== outbox.proof.why;
  if (decided || outbox.database.engine.features.tellsRights) return whyReadOnly;
  return (await operatorSaysItLacks(outbox)).length > 0 ? 'no_grant' : whyReadOnly;
}

/** A key that names one row: an intervention must never touch two. */
function hasUniqueId(place: Place): boolean {
  const names = place.id.map((column) => column.name);
  return (
    names.length > 0 &&
    place.id.every((column) => !column.nullable) &&
    place.description.kind === 'table' &&
    place.description.indexes.some(
      (index) =>
        index.unique &&
        index.predicate === null &&
        index.columns.length === names.length &&
        index.columns.every((name) => names.includes(name)),
    )
  );
}
