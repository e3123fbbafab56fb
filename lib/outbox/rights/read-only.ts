import en from '@/lib/messages/en.json';
import type { Db } from '@/lib/database/description';
import type { ReadOnlyReason } from '@/lib/shared/changes/read-only';
import { Problem } from '@/lib/shared/problems';
import type { ProofDifference } from '@/lib/shared/changes/proofs';
import { livePlaces, type Outbox } from '../outbox';
import { judgeProof, type KnownProof } from '../proof/proven';

/** As the screens say it, in English. */
export const readOnlyText = (why: ReadOnlyReason): string => en.readOnly[why].replaceAll("''", "'");

/** Refuses any change to a read-only outbox: the reason's code in brackets, and what to do. */
export function readOnlyProblem(outboxId: string, why: ReadOnlyReason, differences: ProofDifference[] = []): Problem {
  const changed = differences.slice(0, 5).map(({ what, of, name }) => `${what} ${name === null ? of : `${of}.${name}`}`);
  const found = changed.length === 0 ? '' : ` Different: ${changed.join(', ')}.`;
  return new Problem('read_only', `Outbox ${outboxId}, ${why}: ${readOnlyText(why)}${found} This try changed nothing`, { because: why });
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
  const rules = await outbox.database.engine.tableRules(db, tables);
  const bound = [outbox.rules.main, outbox.rules.dead];
  if (rules.some((now, index) => now.signature !== bound[index]?.signature))
    throw new Problem(
      'read_only',
      `A table of outbox ${outbox.id} was altered since it was last looked at (table_changed). This try changed nothing; the next try sees the table as it is now`,
      { because: 'table_changed' },
    );
}
