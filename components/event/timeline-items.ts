import type { AuditEntry, EventDetail } from '@/lib/shared/model';

/** One thing that happened to an event, as far as its table and the record tell. */
export type TimelineItem =
  | { kind: 'created' | 'published'; at: string }
  | { kind: 'attempted'; at: string; attempts: number | null }
  | { kind: 'archived'; at: string; by: string; reason: string }
  | { kind: 'intervention'; at: string; entry: AuditEntry };

/** What stands first among things of one instant. */
const RANK = { created: 0, attempted: 1, published: 2, archived: 3, intervention: 4 } as const;

/**
 * The story of an event, oldest first. The table keeps the last attempt only, so earlier ones are a number and no lines.
 * An archiving that the record tells as an intervention is not told twice.
 */
export function timelineItems({ event, interventions, archived }: EventDetail): TimelineItem[] {
  const items: TimelineItem[] = interventions.map((entry) => ({ kind: 'intervention', at: entry.at, entry }));
  if (event.createdAt !== null) items.push({ kind: 'created', at: event.createdAt });
  // A relay that stamps the claim and the success alike leaves one instant for both.
  if (event.lastAttemptAt !== null && event.lastAttemptAt !== event.publishedAt) {
    items.push({ kind: 'attempted', at: event.lastAttemptAt, attempts: event.attempts });
  }
  if (event.publishedAt !== null) items.push({ kind: 'published', at: event.publishedAt });
  if (archived !== null && !interventions.some(({ interventionId }) => interventionId === archived.interventionId)) {
    items.push({ kind: 'archived', at: archived.at, by: archived.by, reason: archived.reason });
  }
  return items.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || RANK[a.kind] - RANK[b.kind]);
}
