/**
 * Whether the relay behind a replication slot is alive and moving. Unconfirmed log is no count of events, and an idle slot does not move
 * either: nothing is judged from one tick, nor before rows were written that the slot should have confirmed long ago.
 */
import { isLost, RESTART_MS, type SlotSeen, type SlotSight, type SlotsSeen } from './seen';
import { chooseSlot, lagOf } from './health';

/** Connectors confirm once a minute, or as rarely as they store their offsets. */
const CONFIRMS_WITHIN_MS = 300_000;
/** Sessions report the rows they wrote with up to this delay. */
const REPORTED_MS = 20_000;
/** Idle databases and rolled-back transactions write less log than this. */
const QUIET_BYTES = 16_384;
/** What one tick saw counts once another, this much later, sees the same. */
const CONFIRMED_AFTER_MS = 8_000;
/** Between ticks further apart, anything may have happened. */
const APART_MS = 60_000;
/** More log held back than this, for at least HELD_MS, is not a burst. */
const HELD_BYTES = 10_000_000_000;
const HELD_MS = 300_000;

/** What readings saw of the slots, oldest first; `seen` is null if a reading got no answer. */
export interface SlotHistory {
  sight: SlotSight | null;
  readings: readonly { asOf: string; seen: SlotsSeen | null }[];
}

type SlotTick = ReturnType<typeof ticksOf>[number];

export type Stop = {
  /** Milliseconds since the epoch; null if no earlier tick saw it otherwise. */
  since: number | null;
  slot: string | null;
  lagBytes: number | null;
  heldBytes: number | null;
} & (
  | { how: 'lost'; reason: string | null }
  | { how: 'missing' }
  /** `events`: rows inserted since, as far as counted, rolled back or not; null if only the log shows that something was written. */
  | { how: 'inactive' | 'silent'; events: number | null; forMs: number }
);

/** How the relay has stopped; null if it has not, or no slot shows it. */
export function stopOf(history: SlotHistory): Stop | null {
  const ticks = ticksOf(history);
  const last = ticks.at(-1);
  if (last === undefined) return null;
  return lost(ticks, last) ?? missing(ticks, last, history.sight?.wanted ?? null) ?? inactive(ticks, last) ?? silent(ticks, last);
}

/** Log that a slot holds back beyond its server's limit, or beyond what any disk should hold; null if it does not. */
export function heldBackOf(history: SlotHistory) {
  const ticks = ticksOf(history);
  const last = ticks.at(-1)?.slot ?? null;
  if (last === null || last.retainedBytes === null || isLost(last)) return null;
  // The server is about to remove log that the slot needs.
  const endangered = last.status === 'unreserved';
  const holds = ({ slot }: SlotTick): boolean =>
    slot?.name === last.name && (endangered ? slot.status === 'unreserved' : (slot.retainedBytes ?? 0) >= HELD_BYTES);
  const { seen, spanMs, since } = streakOf(ticks, holds);
  if (spanMs < (endangered ? CONFIRMED_AFTER_MS : HELD_MS)) return null;
  const lastMs = seen.at(-1)?.atMs ?? 0;
  const before = seen.findLast(({ atMs }) => lastMs - atMs >= HELD_MS)?.slot?.retainedBytes ?? 0;
  // A shrinking backlog clears by itself.
  if (!endangered && last.retainedBytes < before) return null;
  return { since, slot: last.name, heldBytes: last.retainedBytes, lagBytes: lagOf(last), endangered };
}

/** Nothing can be read from the slot any more, with or without a reader. */
function lost(ticks: readonly SlotTick[], { slot }: SlotTick): Stop | null {
  if (slot === null || !isLost(slot)) return null;
  const { spanMs, since } = streakOf(ticks, (tick) => tick.slot?.name === slot.name && isLost(tick.slot));
  if (spanMs < CONFIRMED_AFTER_MS) return null;
  return { how: 'lost', since, slot: slot.name, lagBytes: null, heldBytes: null, reason: slot.invalidated ?? slot.status };
}

/** There is no slot although the table is in use: rows were inserted, or at least tried. */
function missing(ticks: readonly SlotTick[], last: SlotTick, wanted: string | null): Stop | null {
  if (!last.missing || (last.inserted ?? 0) === 0) return null;
  const { seen, spanMs, since } = streakOf(ticks, (tick) => tick.missing);
  if (spanMs < RESTART_MS) return null;
  const before = ticks[ticks.length - seen.length - 1]?.slot ?? null;
  return { how: 'missing', since, slot: wanted ?? before?.name ?? null, lagBytes: null, heldBytes: null };
}

/** No reader for longer than a restart takes, while something was written. */
function inactive(ticks: readonly SlotTick[], { atMs, slot, inserted }: SlotTick): Stop | null {
  if (slot === null || slot.active) return null;
  const streak = streakOf(ticks, (tick) => isSame(tick, slot) && tick.slot?.active === false);
  const told = slot.inactiveSince === null ? null : Date.parse(slot.inactiveSince);
  const forMs = told === null ? streak.spanMs : atMs - told;
  if (streak.spanMs < CONFIRMED_AFTER_MS || forMs < (readsInRounds(ticks) ? CONFIRMS_WITHIN_MS : RESTART_MS)) return null;
  const since = told ?? streak.since;
  // Rows written just before may be counted late, and already be confirmed.
  const from = streak.seen.find((tick) => tick.atMs >= (since ?? -Infinity) + REPORTED_MS);
  const events = writtenBetween(from, inserted);
  const lagBytes = lagOf(slot);
  if (lagBytes === 0 || (events === null && (forMs < CONFIRMS_WITHIN_MS || (lagBytes ?? 0) < QUIET_BYTES))) return null;
  return { how: 'inactive', since, slot: slot.name, lagBytes, heldBytes: slot.retainedBytes, events, forMs };
}

/** The slot moved between ticks that saw no reader: its reader connects now and then. */
const readsInRounds = (ticks: readonly SlotTick[]): boolean =>
  ticks.some(({ slot }, index) => {
    const before = ticks[index - 1]?.slot;
    return slot?.active === false && before?.active === false && before.name === slot.name && before.confirmedTo !== slot.confirmedTo;
  });

/** Nothing written minutes ago was confirmed. Little log proves nothing: it may be of a rolled-back transaction. */
function silent(ticks: readonly SlotTick[], { atMs, slot, inserted }: SlotTick): Stop | null {
  if (slot?.confirmedTo == null || lagOf(slot) === 0) return null;
  const { seen: streak, since: begun } = streakOf(ticks, (tick) => isSame(tick, slot));
  const [first] = streak;
  if (first === undefined) return null;
  const at = streak.findIndex(
    (tick, index) =>
      index > 0 &&
      tick.atMs - first.atMs >= REPORTED_MS &&
      writtenBetween(streak[index - 1], tick.inserted) !== null &&
      (tick.slot?.unconfirmedBytes ?? 0) >= QUIET_BYTES,
  );
  const seen = streak[at];
  if (seen === undefined || atMs - seen.atMs < CONFIRMS_WITHIN_MS) return null;
  const since = begun === null ? null : seen.atMs;
  const events = writtenBetween(streak[at - 1], inserted);
  return { how: 'silent', since, slot: slot.name, lagBytes: lagOf(slot), heldBytes: slot.retainedBytes, events, forMs: atMs - seen.atMs };
}

function ticksOf({ sight, readings }: SlotHistory) {
  if (sight === null || sight.why !== null) return [];
  return readings.flatMap(({ asOf, seen }) => {
    if (seen === null) return [];
    const { slot, why } = chooseSlot(sight, seen);
    // Without a configured name, no slot can be called missing while the server has others.
    const missing = why === 'slot_not_found' && (sight.wanted !== null || seen.slots.length === 0);
    return [{ atMs: Date.parse(asOf), inserted: seen.inserted, slot, missing }];
  });
}

/** The newest ticks that `sees` accepts, without a pause between them; `since`: the first of them, null if no tick before saw otherwise. */
function streakOf(ticks: readonly SlotTick[], sees: (tick: SlotTick) => boolean) {
  const from = ticks.findLastIndex((tick, at) => {
    const next = ticks[at + 1];
    return !sees(tick) || (next !== undefined && next.atMs - tick.atMs > APART_MS);
  });
  const seen = ticks.slice(from + 1);
  const [first, last] = [seen[0]?.atMs ?? null, seen.at(-1)?.atMs ?? 0];
  return { seen, spanMs: last - (first ?? 0), since: seen.length < ticks.length ? first : null };
}

/** The same slot, with nothing confirmed since. */
const isSame = ({ slot }: SlotTick, { name, confirmedTo }: SlotSeen): boolean => slot?.name === name && slot.confirmedTo === confirmedTo;

/** Rows inserted since that tick, rolled back or not; null if none, or if they are not counted. */
function writtenBetween(before: SlotTick | undefined, inserted: number | null): number | null {
  if (before === undefined || before.inserted === null || inserted === null || inserted <= before.inserted) return null;
  return inserted - before.inserted;
}
