/** The past that is still to be read: spans of time, newest first, each eaten up from its newer end. */
import { isoOf, microsOf, MINUTE, minuteOf } from './instants';
import type { Progress, UnreadSpan } from './progress';
import type { Span } from './fold-sql';

/** A span to be read; null when there is nothing between its ends. */
export function unreadSpan(from: number, to: number): UnreadSpan | null {
  return from < to ? { from: isoOf(from), to: isoOf(to), startedAt: isoOf(to) } : null;
}

/** Whether part of a minute is still to be read. */
export function isUnread({ unread }: Pick<Progress, 'unread'>, minute: number): boolean {
  return unread.some((span) => minuteOf(microsOf(span.from)) <= minute && minute * MINUTE < microsOf(span.to));
}

/**
 * The newest part of a span, at most so wide (microseconds) and not reaching over `edge`. It begins with a minute where it is
 * wider than one.
 */
export function newestSlice(span: UnreadSpan, width: number, edge: number): Span {
  const to = microsOf(span.to);
  const wanted = width < MINUTE ? to - width : Math.ceil((to - width) / MINUTE) * MINUTE;
  return { from: Math.max(microsOf(span.from), to > edge ? edge : -Infinity, Math.min(wanted, to - 1)), to };
}

/** What is left to read when everything from `from` on has been. */
export function readDownTo(span: UnreadSpan, from: number): UnreadSpan | null {
  return from <= microsOf(span.from) ? null : { ...span, to: isoOf(from) };
}

/** How much of the past has been read, from 0 to 1, and back to when; null when all of it has. */
export function backfillOf({ unread }: Pick<Progress, 'unread'>): { share: number; from: string } | null {
  const [first] = unread;
  if (first === undefined) return null;
  const width = (end: 'to' | 'startedAt'): number => unread.reduce((sum, span) => sum + microsOf(span[end]) - microsOf(span.from), 0);
  const whole = width('startedAt');
  return { share: whole <= 0 ? 1 : 1 - width('to') / whole, from: unread.map((span) => span.from).sort()[0] ?? first.from };
}
