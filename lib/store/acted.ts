/** Queries on `acted`: which outboxes operators have changed, and when. Without it, figures would search the records all the time. */
import { sql } from 'kysely';
import type { StoreDb } from './store';

/** When operators first and last changed events of an outbox, ISO 8601 UTC; a try that changed nothing counts too. */
export type Acted = Record<'first' | 'last', string>;

/** Notes that operators acted on these outboxes; null, and what lies ahead of the store's clock, is now. */
export async function noteActed(db: StoreDb, acts: readonly { outbox: string; at: string | null }[]): Promise<void> {
  await sql`insert into acted (outbox, first_at, last_at)
    select outbox, min(at), max(at)
    from (select outbox, least(at, clock_timestamp()) as at
      from unnest(${acts.map(({ outbox }) => outbox)}::text[], ${acts.map(({ at }) => at)}::timestamptz[]) as act (outbox, at)) as act
    group by outbox order by outbox
    on conflict (outbox) do update
    set first_at = least(acted.first_at, excluded.first_at), last_at = greatest(acted.last_at, excluded.last_at)`.execute(db);
}

/** From the columns of a left join with `acted`. */
export const actedOf = ({ firstAt, lastAt }: { firstAt: string | null; lastAt: string | null }): Acted | null =>
  firstAt === null || lastAt === null ? null : { first: firstAt, last: lastAt };
