import type { Db } from '@/lib/database/description';
import type { ReadOnlyReason } from '@/lib/shared/changes/read-only';
import { Problem } from '@/lib/shared/problems';
import type { ProofDifference } from '@/lib/shared/changes/proofs';
import { livePlaces, type Outbox } from '../outbox';
import { judgeProof, type KnownProof } from '../proof/proven';

/** Screens have their own texts, under `readOnly.<code>`. */
const ADVICE: Record<ReadOnlyReason, string> = {
  no_operator_url: 'its database has no operatorUrl; add one to the configuration',
  not_installed: "the console's tables are not installed; run npm run console -- install {outbox}",
  reinstall_needed:
    "the console's records lack the index, or its reader the right, by which changes are counted; run npm run console -- install {outbox} again",
  companions_out_of_date: 'its archive does not match its table any more; run npm run console -- install {outbox} again',
  mapping_not_proven: 'its mapping has not been proven; run npm run console -- prove {outbox}, or prove it in its settings',
  proof_failed: 'its last proof showed that no operation does what it says; look at the proof, correct the mapping or the table',
  mapping_changed: 'its mapping is not the one that was proven; prove it again',
  table_changed: 'its table is not the one that was proven; prove the mapping again',
  table_differs: 'its table differs from the one this shape was tested on; prove the mapping on this table',
  changes_off: 'changes are turned off; an administrator can turn them on, in its settings',
  proof_unknown: "the console's store does not answer, so nobody knows whether it was proven; try again in a moment",
  not_transactional: 'its table cannot take a change back (it is not transactional); convert it to InnoDB',
  statement_binlog:
    'its server writes statements into its binary log and refuses the isolation that changes need; let it write rows (binlog_format=ROW or MIXED)',
  no_primary_key: 'its table has no unique key that names one row',
  no_grant: "the operator's role lacks privileges; run npm run console -- install {outbox} and apply its grants",
  no_privilege: "the reader's role may not read its table; run npm run console -- install {outbox} and apply its grants",
  table_missing: 'its table was not found',
  source_unusable: 'its table does not fit its mapping; check the mapping against the table',
  server_outdated: 'its server refused a statement that it may be too old to know',
  source_slow: 'its database takes too long to answer, or its connections are all in use; try again in a moment',
  source_down: 'its database does not answer',
};

export const readOnlyAdvice = (outboxId: string, why: ReadOnlyReason): string => ADVICE[why].replace('{outbox}', outboxId);

/** Refuses any change to a read-only outbox: the reason's code in brackets, and what to do. */
export function readOnlyProblem(outboxId: string, why: ReadOnlyReason, differences: ProofDifference[] = []): Problem {
  const changed = differences.slice(0, 5).map(({ what, of, name }) => `${what} ${name === null ? of : `${of}.${name}`}`);
  const found = changed.length === 0 ? '' : ` (different: ${changed.join(', ')})`;
  const advice = `${readOnlyAdvice(outboxId, why)}${found}`;
  return new Problem('read_only', `Outbox ${outboxId} is read-only here (${why}): ${advice}. This try changed nothing`, { because: why });
}

/** Throws Problem `read_only` unless it may be changed, also by the newest proof; returns the operations that this proof refuses. */
export function requireWritable(outbox: Outbox, known: KnownProof | null): string[] {
  const { why, differences, refused } = judgeProof(outbox, known);
  const because = outbox.whyReadOnly ?? why;
  if (because !== null) throw readOnlyProblem(outbox.id, because, differences);
  return refused;
}

/** Throws Problem `read_only` if columns or triggers changed since binding; called before the commit, when they can no longer change. */
export async function requireSameTables(outbox: Outbox, db: Db): Promise<void> {
  const tables = livePlaces(outbox).map(({ table }) => table);
  const signatures = await outbox.database.engine.tableSignatures(db, tables);
  const bound = [outbox.rules.main, outbox.rules.dead];
  if (signatures.some((now, index) => now !== bound[index]?.signature))
    throw new Problem(
      'read_only',
      `A table of outbox ${outbox.id} was altered since it was last looked at (table_changed). This try changed nothing; the next try sees the table as it is now`,
      { because: 'table_changed' },
    );
}
