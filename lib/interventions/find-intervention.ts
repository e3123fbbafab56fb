import type { Database } from '@/lib/database/database';
import type { Db } from '@/lib/database/description';
import { DatabaseFailure } from '@/lib/database/failure';
import { recordTables } from '@/lib/outbox/companions';
import type { InterventionResult } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { isUnderWay } from './intervene';
import type { ActorsKey } from './operation';
import { headerOf, recordedResult } from './records';
import { findKey, notAppliedResult, resultFrom, settleEntry, type SettleDeps } from './settle';

/** The result for a key, settled if it was unknown; null if there was no try. Throws Problem `in_progress`; `unavailable` if unknown. */
export async function findByKey(deps: SettleDeps, key: ActorsKey): Promise<InterventionResult | null> {
  const remembered = await deps.unsettled.ofKey(key);
  if (remembered?.notApplied === false) return resultFrom(remembered.entry, await settleEntry(deps, remembered.entry));
  if (isUnderWay(key)) throw underWay();
  const outbox = await deps.directory.get(key.outbox);
  if (outbox.archive !== null) {
    const finding = await findKey(outbox, key).catch((error: unknown) => {
      throw error instanceof DatabaseFailure ? cannotSay(outbox.database.id, error) : error;
    });
    if (finding.kind === 'applied') return finding.result;
    if (finding.kind === 'unknown') {
      if (finding.why === 'running') throw underWay();
      // Without an operator no key was ever used.
      if (outbox.database.write !== null) throw cannotSay(outbox.database.id);
    }
  }
  // Had a later try with the key been committed, its record would have been found.
  return remembered === null ? null : notAppliedResult(remembered.entry);
}

const underWay = (): Problem => new Problem('in_progress', 'An intervention with this key is under way', { retryAfterSeconds: 1 });

/** An intervention by id, settled if it was unknown; null if there is none. Throws Problem `unavailable` if a database did not answer. */
export async function findIntervention(deps: SettleDeps, id: string): Promise<InterventionResult | null> {
  const doubts: Problem[] = [];
  const doubt = (error: unknown, name: string): null => {
    if (error instanceof Problem) doubts.push(error);
    else if (error instanceof DatabaseFailure) doubts.push(cannotSay(name, error));
    else throw error;
    return null;
  };
  const remembered = await deps.unsettled.get(id).catch((error: unknown) => doubt(error, 'of the console itself'));
  if (remembered !== null) {
    const { entry, notApplied } = remembered;
    return notApplied ? notAppliedResult(entry) : resultFrom(entry, await settleEntry(deps, entry));
  }
  // One table holds the records of all outboxes of a database.
  const databases = new Set(deps.directory.ids.map((outbox) => deps.directory.database(outbox)));
  for (const database of databases) {
    const found = await recordOf(database, id).catch((error: unknown) => doubt(error, database.id));
    if (found !== null) return found;
  }
  if (doubts[0] !== undefined) throw doubts[0];
  return null;
}

/** A record that the reader finds is enough; a replica may not have it yet, so the operator's connection is asked next. */
async function recordOf({ engine, read, write }: Database, id: string): Promise<InterventionResult | null> {
  const find = async (db: Db): Promise<InterventionResult | null> => {
    if ((await engine.describe(db, recordTables(engine).headers)) === null) return null;
    const header = await headerOf(engine, db, { id });
    return header === null ? null : recordedResult(engine, db, header);
  };
  const found = await read(find);
  return found === null && write !== null ? write(find) : found;
}

function cannotSay(databaseId: string, cause?: unknown): Problem {
  const why = 'cannot say at the moment what it has a record of: it does not answer, or takes no writes. Ask again';
  return new Problem('unavailable', `Database ${databaseId} ${why}`, { cause });
}
