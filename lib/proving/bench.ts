/** Where a proof works: one transaction that is always taken back, as the operator or, for making rows, as the table's owner. */
import { sql } from 'kysely';
import { openDatabase, type Database } from '@/lib/database/database';
import type { Db } from '@/lib/database/engine';
import type { DatabaseFailure } from '@/lib/database/failure';
import { becomeRole, leaveRole, settleConstraints } from '@/lib/database/roles';
import { readTableRules, type TableRules } from '@/lib/database/table-rules';
import { livePlaces, type Outbox } from '@/lib/outbox/outbox';
import { Problem } from '@/lib/shared/problems';

export interface Bench {
  outbox: Outbox;
  db: Db;
  /** The rules of the outbox's tables as this login sees them: a reader may be told less. */
  rules: { main: TableRules | null; dead: TableRules | null };
  open: { savepoints: number };
  /** Runs as who may make rows: the owner where a login of theirs was given, otherwise the operator. */
  asMaker<T>(work: () => Promise<T>): Promise<T>;
  /** What was put off to the commit happens now, or fails now. */
  settle(): Promise<void>;
}

export interface Makers {
  rowsAs: 'operator' | 'owner';
  changesAs: 'operator' | 'owner';
}

/** Opens what a proof works on. `ownerUrl`: a login of the table's owner, for making rows. */
export interface Workshop {
  makers: Makers;
  /** Runs `work` in a transaction of its own and takes everything back. Throws DatabaseFailure. */
  run<T>(work: (bench: Bench) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Carries the answer out of a transaction that must not commit. */
class TakenBack extends Error {
  constructor(readonly answer: unknown) {
    super('taken back');
  }
}

/** Throws Problem `read_only` without an operator's login, and `unavailable` or `invalid` where the owner's cannot be used. */
export async function openWorkshop(outbox: Outbox, ownerUrl: string | null): Promise<Workshop> {
  const { write } = outbox.database;
  if (write === null) throw new Problem('read_only', `Database ${outbox.database.id} has no operatorUrl: a proof runs as the operator`);
  const owner = ownerUrl === null ? null : openDatabase({ id: outbox.database.id, url: ownerUrl, operatorUrl: ownerUrl });
  const makers: Makers = { rowsAs: owner === null ? 'operator' : 'owner', changesAs: 'operator' };
  try {
    if (owner !== null && !(await mayBecome(owner, outbox))) makers.changesAs = 'owner';
  } catch (error) {
    await owner?.close();
    throw error;
  }
  const { operator } = outbox.database.roles;
  const switches = owner !== null && makers.changesAs === 'operator' && operator !== null;
  return {
    makers,
    async run(work) {
      try {
        await (owner?.write ?? write)(async (db) => {
          const rules = await rulesOf(outbox, db);
          if (switches) await becomeRole(outbox.database.engine.key, db, operator);
          const answer = await work({
            outbox,
            db,
            rules,
            open: { savepoints: 0 },
            async asMaker(made) {
              if (!switches) return made();
              await leaveRole(outbox.database.engine.key, db);
              const value = await made();
              await becomeRole(outbox.database.engine.key, db, operator);
              return value;
            },
            settle: () => settleConstraints(outbox.database.engine.key, db),
          });
          throw new TakenBack(answer);
        });
      } catch (error) {
        if (error instanceof TakenBack) return error.answer as Awaited<ReturnType<typeof work>>;
        throw error;
      }
      throw new Error('a proof has committed');
    },
    close: async () => owner?.close(),
  };
}

/** True when the owner's login may act as the operator, so that the changes run with the operator's own rights. */
async function mayBecome(owner: Database, outbox: Outbox): Promise<boolean> {
  const { operator } = outbox.database.roles;
  if (operator === null || owner.write === null) return false;
  try {
    return await owner.write(async (db) => becomeRole(outbox.database.engine.key, db, operator));
  } catch (error) {
    if (outbox.database.engine.failure(error).code === 'no_privilege') return false;
    throw error;
  }
}

async function rulesOf(outbox: Outbox, db: Db): Promise<Bench['rules']> {
  const [main, dead] = await readTableRules(
    outbox.database.engine.key,
    db,
    livePlaces(outbox).map(({ table }) => table),
  );
  return { main: main ?? null, dead: dead ?? null };
}

/** Where a savepoint left things. */
export type Attempt<T> = { ok: true; value: T } | { ok: false; failure: DatabaseFailure };

/** Runs `work` in a savepoint, and takes it back when it fails, or always: `keep` says which. Other errors than the database's pass. */
export async function attempt<T>({ outbox, db, open }: Bench, keep: 'keep' | 'take back', work: () => Promise<T>): Promise<Attempt<T>> {
  // Each has a name of its own: on one engine a second savepoint of a name ends the first.
  const point = sql.id(`trial_${open.savepoints}`);
  open.savepoints += 1;
  await sql`savepoint ${point}`.execute(db);
  try {
    const value = await work();
    if (keep === 'take back') await sql`rollback to savepoint ${point}`.execute(db);
    await sql`release savepoint ${point}`.execute(db);
    return { ok: true, value };
  } catch (error) {
    const failure = outbox.database.engine.failure(error);
    if (failure.code === 'connection') throw error;
    await sql`rollback to savepoint ${point}`.execute(db);
    await sql`release savepoint ${point}`.execute(db);
    if (failure.code === 'other' && failure.state === null) throw error;
    return { ok: false, failure };
  }
}
