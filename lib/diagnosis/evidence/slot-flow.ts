/**
 * Whether the relay behind a replication slot lives and moves. A slot tells less than rows do: how much log is not confirmed,
 * not how many events, and one that is idle stands still as well. So nothing is judged from one look, and of a slot that is
 * read only once something was written into the outbox that it should have confirmed long ago. What is counted there is written
 * rows, those of transactions that were rolled back as well, which are nobody's to confirm.
 */
import { isLost, RESTART_MS, type SlotSeen } from '@/lib/outbox/slots';
import type { Past } from '@/lib/live/reading';
import { chooseSlot, slotsOf } from '@/lib/figures/slot-choice';
import type { Circumstances } from './circumstances';

/** Connectors confirm once a minute, or as seldom as their offsets are kept. */
const CONFIRMS_WITHIN_MS = 300_000;
/** Sessions report what they have written up to so much later. */
const REPORTED_MS = 20_000;
/** So little log is written while nobody writes, or by a transaction that was rolled back. */
const QUIET_BYTES = 16_384;
/** An earlier look that saw the same. */
const CONFIRMED_AFTER_MS = 8_000;
/** Looks further apart say nothing of the time between them. */
const APART_MS = 60_000;
/** So much log held back, for so long and not less, is more than a burst. */
const HELD_BYTES = 10_000_000_000;
const HELD_MS = 300_000;

/** What one look saw. */
interface Look {
  atMs: number;
  inserted: number | null;
  /** The outbox's slot; null where there is none. */
  slot: SlotSeen | null;
  /** None, where it should be. */
  missing: boolean;
}

export type Stop = {
  /** Milliseconds since the epoch; null where nobody saw it otherwise. */
  since: number | null;
  slot: string | null;
  lagBytes: number | null;
  heldBytes: number | null;
} & (
  | { how: 'lost'; reason: string | null }
  | { how: 'missing' }
  /** `events`: written since, as far as was seen, rolled back or not; null where only the log tells that something was. */
  | { how: 'inactive' | 'silent'; events: number | null; forMs: number }
);

/** How the relay has stopped; null where it has not, or no slot tells. */
export function stopOf(circumstances: Circumstances): Stop | null {
  const looks = looksOf(circumstances);
  const last = looks.at(-1);
  if (last === undefined) return null;
  return (
    lost(looks, last) ??
    missing(looks, last, circumstances.reading?.traits.slots?.wanted ?? null) ??
    inactive(looks, last) ??
    silent(looks, last)
  );
}

export interface HeldBack {
  since: number | null;
  slot: string;
  heldBytes: number;
  lagBytes: number | null;
  /** The server is about to take the log away. */
  endangered: boolean;
}

/** Log that a slot keeps beyond what its server will, or any disk should; null where it does not. */
export function heldBackOf(circumstances: Circumstances): HeldBack | null {
  const looks = looksOf(circumstances);
  const last = looks.at(-1)?.slot ?? null;
  if (last === null || last.retainedBytes === null || isLost(last)) return null;
  const endangered = last.status === 'unreserved';
  const holds = ({ slot }: Look): boolean =>
    slot?.name === last.name && (endangered ? slot.status === 'unreserved' : (slot.retainedBytes ?? 0) >= HELD_BYTES);
  const streak = streakOf(looks, holds);
  if (spanOf(streak) < (endangered ? CONFIRMED_AFTER_MS : HELD_MS)) return null;
  const lastMs = streak.at(-1)?.atMs ?? 0;
  const before = streak.findLast(({ atMs }) => lastMs - atMs >= HELD_MS)?.slot?.retainedBytes ?? 0;
  // What is being worked off will be gone by itself.
  if (!endangered && last.retainedBytes < before) return null;
  return {
    since: beginOf(looks, streak),
    slot: last.name,
    heldBytes: last.retainedBytes,
    lagBytes: lagOf(last),
    endangered,
  };
}

/** Nothing can be read from it any more, whether or not somebody tries. */
function lost(looks: readonly Look[], { slot }: Look): Stop | null {
  if (slot === null || !isLost(slot)) return null;
  const streak = streakOf(looks, (look) => look.slot?.name === slot.name && isLost(look.slot));
  if (spanOf(streak) < CONFIRMED_AFTER_MS) return null;
  return {
    how: 'lost',
    since: beginOf(looks, streak),
    slot: slot.name,
    lagBytes: null,
    heldBytes: null,
    reason: slot.invalidated ?? slot.status,
  };
}

/** There is none, and the table is in use: somebody has tried to write into it. */
function missing(looks: readonly Look[], last: Look, wanted: string | null): Stop | null {
  if (!last.missing || (last.inserted ?? 0) === 0) return null;
  const streak = streakOf(looks, (look) => look.missing);
  if (spanOf(streak) < RESTART_MS) return null;
  const before = looks[looks.length - streak.length - 1]?.slot ?? null;
  return { how: 'missing', since: beginOf(looks, streak), slot: wanted ?? before?.name ?? null, lagBytes: null, heldBytes: null };
}

/** Nobody has been connected for longer than a restart takes, and something was written meanwhile. */
function inactive(looks: readonly Look[], { atMs, slot, inserted }: Look): Stop | null {
  if (slot === null || slot.active) return null;
  const streak = streakOf(looks, (look) => isSame(look, slot) && look.slot?.active === false);
  const told = slot.inactiveSince === null ? null : Date.parse(slot.inactiveSince);
  const forMs = told === null ? spanOf(streak) : atMs - told;
  if (spanOf(streak) < CONFIRMED_AFTER_MS || forMs < (readsInRounds(looks) ? CONFIRMS_WITHIN_MS : RESTART_MS)) return null;
  const since = told ?? beginOf(looks, streak);
  // What was written just before may be told later, and be through.
  const from = streak.find((look) => look.atMs >= (since ?? -Infinity) + REPORTED_MS);
  const events = writtenBetween(from, inserted);
  const lagBytes = lagOf(slot);
  if (lagBytes === 0 || (events === null && (forMs < CONFIRMS_WITHIN_MS || (lagBytes ?? 0) < QUIET_BYTES))) return null;
  return { how: 'inactive', since, slot: slot.name, lagBytes, heldBytes: slot.retainedBytes, events, forMs };
}

/** It has moved while nobody was seen to be connected: its reader comes by and goes on. */
const readsInRounds = (looks: readonly Look[]): boolean =>
  looks.some(({ slot }, index) => {
    const before = looks[index - 1]?.slot ?? null;
    return (
      slot !== null &&
      before !== null &&
      !slot.active &&
      !before.active &&
      before.name === slot.name &&
      before.confirmedTo !== slot.confirmedTo
    );
  });

/**
 * Somebody may be connected, and what was written minutes ago is not confirmed: not one byte of the log was. A row that left little log
 * proves nothing: one that was rolled back is counted too, and some connectors confirm nothing until an event comes.
 */
function silent(looks: readonly Look[], { atMs, slot, inserted }: Look): Stop | null {
  if (slot?.confirmedTo == null || lagOf(slot) === 0) return null;
  const streak = streakOf(looks, (look) => isSame(look, slot));
  const [first] = streak;
  if (first === undefined) return null;
  const at = streak.findIndex(
    (look, index) =>
      index > 0 &&
      look.atMs - first.atMs >= REPORTED_MS &&
      writtenBetween(streak[index - 1], look.inserted) !== null &&
      logBehind(look) >= QUIET_BYTES,
  );
  const seen = streak[at];
  if (seen === undefined || atMs - seen.atMs < CONFIRMS_WITHIN_MS) return null;
  return {
    how: 'silent',
    since: beginOf(looks, streak) === null ? null : seen.atMs,
    slot: slot.name,
    lagBytes: lagOf(slot),
    heldBytes: slot.retainedBytes,
    events: writtenBetween(streak[at - 1], inserted),
    forMs: atMs - seen.atMs,
  };
}

/** The looks of the last minutes, oldest first; those that were told of no slots are left out. */
function looksOf({ reading, previous }: Circumstances): Look[] {
  const sight = reading?.traits.slots ?? null;
  if (reading === null || sight === null || sight.why !== null) return [];
  return [...previous, reading].flatMap((past: Past): Look[] => {
    const seen = slotsOf(past);
    if (seen === null) return [];
    const { slot, why } = chooseSlot(sight, seen);
    // Where the server has slots that could be another's, nobody can say that this one is missing.
    const isMissing = why === 'slot_not_found' && (sight.wanted !== null || seen.slots.length === 0);
    return [{ atMs: Date.parse(past.asOf), inserted: seen.inserted, slot, missing: isMissing }];
  });
}

/** The newest looks that saw it, without a pause among them. */
function streakOf(looks: readonly Look[], sees: (look: Look) => boolean): Look[] {
  let from = looks.length;
  for (let at = looks.length - 1; at >= 0; at -= 1) {
    const [look, next] = [looks[at], looks[at + 1]];
    if (look === undefined || !sees(look) || (next !== undefined && next.atMs - look.atMs > APART_MS)) break;
    from = at;
  }
  return looks.slice(from);
}

const spanOf = (streak: readonly Look[]): number => (streak.at(-1)?.atMs ?? 0) - (streak[0]?.atMs ?? 0);

/** When it was first seen, where somebody saw it otherwise before. */
const beginOf = (looks: readonly Look[], streak: readonly Look[]): number | null =>
  streak.length < looks.length ? (streak[0]?.atMs ?? null) : null;

/** It is the same slot and has not been told that anything is through. */
const isSame = ({ slot }: Look, { name, confirmedTo }: SlotSeen): boolean => slot?.name === name && slot.confirmedTo === confirmedTo;

/** Rows written since that look, rolled back or not; null for none, and where nobody counts. */
function writtenBetween(before: Look | undefined, inserted: number | null): number | null {
  if (before === undefined || before.inserted === null || inserted === null || inserted <= before.inserted) return null;
  return inserted - before.inserted;
}

const lagOf = ({ unconfirmedBytes }: SlotSeen): number | null => (unconfirmedBytes === null ? null : Math.max(0, unconfirmedBytes));

/** Log that was not confirmed when somebody looked, in bytes; 0 where nobody can tell. */
const logBehind = ({ slot }: Look): number => (slot === null ? 0 : (lagOf(slot) ?? 0));
