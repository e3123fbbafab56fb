/** Ground truth for the race tests: every change of every table an event can be in, written down by triggers. */
import type { TestDatabase } from '@/scripts/testing/database';
import type { Shape } from '@/lib/outbox/shape';
import { tableOf } from '@/scripts/testing/outbox';

export interface Change {
  seq: string;
  place: 'main' | 'dead' | 'archive';
  op: 'INSERT' | 'UPDATE' | 'DELETE';
  event_id: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  /** Made by the console's operator role. */
  ours: boolean;
  txid: string;
  at: Date;
}

/** Puts the triggers on the outbox, its dead-letter table and its archive. */
export async function watchHistory(database: TestDatabase, shape: Shape): Promise<void> {
  await database.query(
    `CREATE TABLE history (seq bigint GENERATED ALWAYS AS IDENTITY, place text, op text, event_id text, before jsonb, after jsonb, ours boolean, txid text, at timestamptz)`,
  );
  // SECURITY DEFINER: the operator has no right to write here, and should not need one for a test to watch it.
  await database.query(`CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      INSERT INTO public.history (place, op, event_id, before, after, ours, txid, at)
      VALUES (TG_ARGV[0], TG_OP, coalesce(NEW.id, OLD.id)::text, CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END,
        CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END, session_user LIKE 'o\\_%', pg_current_xact_id()::text, clock_timestamp());
      RETURN NULL;
    END $$`);
  const tables = {
    main: tableOf(shape, 'main'),
    ...(shape.dead === undefined ? {} : { dead: tableOf(shape, 'dead') }),
    archive: 'outbox_console.archive_sample',
  };
  for (const [place, table] of Object.entries(tables)) {
    await database.query(
      `CREATE TRIGGER watch AFTER INSERT OR UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION watch('${place}')`,
    );
  }
}

export function readHistory(database: TestDatabase): Promise<Change[]> {
  return database.query<Change & Record<string, unknown>>('SELECT * FROM history ORDER BY seq');
}
