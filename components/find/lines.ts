import type { FoundEvent, FoundIn } from '@/lib/shared/lists/found';

export interface FoundLine {
  outbox: string;
  event: FoundEvent;
  kind: 'created' | 'attempted' | 'died' | 'published';
  /** null where the table has no time of the event at all. */
  at: string | null;
  /** The newest of its event, which says what became of it. */
  isLast: boolean;
}

const RANK = ['created', 'attempted', 'died', 'published'] as const;

/** What happened to all events, newest first; events without times come last. */
export function linesOf(outboxes: readonly FoundIn[]): FoundLine[] {
  const lines = outboxes.flatMap(({ outbox, events }) => events.flatMap((event) => linesOfEvent(outbox, event)));
  const time = ({ at }: FoundLine): number => (at === null ? -Infinity : Date.parse(at));
  return lines.toSorted((a, b) => Math.sign(time(b) - time(a)) || RANK.indexOf(b.kind) - RANK.indexOf(a.kind));
}

function linesOfEvent(outbox: string, event: FoundEvent): FoundLine[] {
  const { createdAt, lastAttemptAt, diedAt, publishedAt } = event;
  // A relay that writes one time for both a try and its end gives one line.
  const attemptedAt = lastAttemptAt === publishedAt || lastAttemptAt === diedAt ? null : lastAttemptAt;
  const times = { created: createdAt, attempted: attemptedAt, died: diedAt, published: publishedAt };
  const found = RANK.flatMap((kind) => (times[kind] === null ? [] : [{ outbox, event, kind, at: times[kind] }]));
  const all = found.length === 0 ? [{ outbox, event, kind: 'created' as const, at: null }] : found;
  const last = all.toSorted((a, b) => Date.parse(a.at ?? '') - Date.parse(b.at ?? '')).at(-1);
  return all.map((line) => ({ ...line, isLast: line === last }));
}
