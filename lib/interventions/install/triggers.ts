import { sql } from 'kysely';
import { openDatabase } from '@/lib/database/database';
import type { Engine } from '@/lib/database/engine';
import type { Db, TableName } from '@/lib/database/description';
import { DatabaseFailure } from '@/lib/database/failure';
import { createsTriggerIfMissing, serverOf, type ServerKind } from '@/lib/database/mysql/server';
import { recordTables } from '@/lib/outbox/companions';
import { quotedName, type Outbox } from '@/lib/outbox/outbox';
import type { InstallStatement } from './tables';

const STAND_IN = '_anew';

interface Trigger {
  name: string;
  timing: string;
  event: string;
  body: string;
}

interface TriggersSeen {
  /** null where the server did not answer: it is taken for one of today. */
  server: ServerKind | null;
  /** Of the record tables. A login without the right to make some sees none. */
  triggers: readonly Trigger[];
}

/** The triggers the records have, as this login sees them, the reader where there is none. A server that does not answer has told nothing. */
export async function triggersSeen({ database }: Outbox, url: string | undefined): Promise<TriggersSeen> {
  const { headers, events } = recordTables(database.engine);
  const look = async (db: Db): Promise<TriggersSeen> => {
    const { rows } = await sql<Trigger>`select trigger_name as name, action_timing as timing, event_manipulation as event,
        action_statement as body from information_schema.triggers
      where trigger_schema = ${headers.schema ?? sql`database()`} and event_object_table in (${headers.table}, ${events.table})`.execute(
      db,
    );
    return { server: await serverOf(db), triggers: rows };
  };
  const owner = url === undefined ? null : openDatabase({ id: database.id, url });
  try {
    return await (owner ?? database).read(look);
  } catch (error) {
    if (!(error instanceof DatabaseFailure)) throw error;
    return { server: null, triggers: [] };
  } finally {
    await owner?.close();
  }
}

/** A record may be closed once, in its own transaction, and never be rewritten; nor are its lines, and one that is closed gets no more. */
export function recordTriggers(engine: Engine, seen: TriggersSeen): InstallStatement[] {
  const { headers, events } = recordTables(engine);
  const refuse = `SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = ${engine.quote.literal('an intervention record is never changed')}`;
  const closed = `EXISTS (SELECT 1 FROM ${quotedName(engine, headers)} WHERE id = NEW.intervention_id AND outcome IS NOT NULL)`;
  return [
    ...guard(engine, headers, 'UPDATE', `IF OLD.outcome IS NOT NULL THEN ${refuse}; END IF`, seen),
    ...guard(engine, headers, 'DELETE', refuse, seen),
    ...guard(engine, events, 'INSERT', `IF ${closed} THEN ${refuse}; END IF`, seen),
    ...guard(engine, events, 'UPDATE', refuse, seen),
    ...guard(engine, events, 'DELETE', refuse, seen),
  ];
}

/** One of two triggers guards the table at every moment: where making one anew is refused, nothing was dropped yet. */
function guard(
  engine: Engine,
  { schema, table }: TableName,
  event: 'INSERT' | 'UPDATE' | 'DELETE',
  body: string,
  seen: TriggersSeen,
): InstallStatement[] {
  const name = (text: string): string => quotedName(engine, { schema, table: text });
  const own = `${table}_no_${event.toLowerCase()}`;
  const standIn = `${own}${STAND_IN}`;
  const isThere = (one: string): boolean => seen.triggers.some((each) => each.name === one);
  const guards = (one: string): boolean =>
    seen.triggers.some((each) => each.name === one && each.timing === 'BEFORE' && each.event === event && same(each.body, body));
  const create = (one: string, verb: string): string =>
    `CREATE ${verb} ${name(one)} BEFORE ${event} ON ${name(table)} FOR EACH ROW ${body}`;
  const drop = (one: string): string => `DROP TRIGGER IF EXISTS ${name(one)}`;
  const why = `No ${event} of a record that is closed`;
  const leaves = isThere(standIn) ? [{ why: 'It stood in for the one above', sql: drop(standIn) }] : [];
  if (guards(own)) return leaves;
  if (!isThere(own) && (seen.server === null || createsTriggerIfMissing(seen.server)))
    return [{ why, sql: create(own, 'TRIGGER IF NOT EXISTS') }, ...leaves];
  // In one step, and refused before anything is dropped.
  if (isThere(own) && seen.server?.mariadb === true)
    return [{ why: `${why}: trigger ${own} says something else`, sql: create(own, 'OR REPLACE TRIGGER') }, ...leaves];
  const again = isThere(own)
    ? `trigger ${own} says something else`
    : `trigger ${own} may be there, which this server cannot be asked to skip`;
  const stands = guards(standIn)
    ? []
    : [
        { why: `${why}: ${again}. Another of the same stands in while it is made anew`, sql: drop(standIn) },
        { why: 'Where this is refused, stop here: nothing is lost yet', sql: create(standIn, 'TRIGGER') },
      ];
  return [
    ...stands,
    { why: `${why}: it is made anew`, sql: drop(own) },
    { why, sql: create(own, 'TRIGGER') },
    { why: 'It stood in for the one above', sql: drop(standIn) },
  ];
}

/** Servers keep the text as it was written, and so do those who copy it by hand, but for its spaces. */
const same = (one: string, other: string): boolean => plain(one) === plain(other);
const plain = (body: string): string =>
  body
    .replace(/\s+/g, ' ')
    .replace(/[\s;]+$/, '')
    .trim();
