/**
 * Whether the relay behind a replication slot lives and moves. Log that is not confirmed is no count of events, and an idle slot stands
 * still as well: nothing is judged from one tick, nor of a slot before rows were written that it should have confirmed long ago.
 */
import { isLost, RESTART_MS, type SlotSeen, type SlotSight, type SlotsSeen } from './seen';
import { chooseSlot } from './health';

/** Connectors confirm once a minute, or as seldom as their offsets are kept. */
const CONFIRMS_WITHIN_MS = 300_000;
/** Sessions report what they have written up to so much later. */
const REPORTED_MS = 20_000;
/** So little log is written while nobody writes, or by a transaction that was rolled back. */
const QUIET_BYTES = 16_384;
/** An earlier tick that saw the same. */
const CONFIRMED_AFTER_MS = 8_000;
/** Ticks further apart say nothing of the time between them. */
const APART_MS = 60_000;
/** So much log held back, for so long and not less, is more than a burst. */
const HELD_BYTES = 10_000_000_000;
const HELD_MS = 300_000;

/** What readings saw of the slots, oldest first; `seen` is null for one that was not answered. */
export interface SlotHistory {
  sight: SlotSight | null;
  readings: readonly { asOf: string; seen: SlotsSeen | null }[];
}

interface SlotTick {
  atMs: number;
  inserted: number | null;
  slot: SlotSeen | null;
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
export function stopOf(history: SlotHistory): Stop | null {
  const ticks = ticksOf(history);
  const last = ticks.at(-1);
  if (last === undefined) return null;
  return lost(ticks, last) ?? missing(ticks, last, history.sight?.wanted ?? null) ?? inactive(ticks, last) ?? silent(ticks, last);
}

/** Log that a slot keeps beyond what its server will, or any disk should; null where it does not. */
export function heldBackOf(history: SlotHistory) {
  const ticks = ticksOf(history);
  const last = ticks.at(-1)?.slot ?? null;
  if (last === null || last.retainedBytes === null || isLost(last)) return null;
  // The server is about to take the log away.
  const endangered = last.status === 'unreserved';
  const holds = ({ slot }: SlotTick): boolean =>
    slot?.name === last.name && (endangered ? slot.status === 'unreserved' : (slot.retainedBytes ?? 0) >= HELD_BYTES);
  const { seen, spanMs, since } = streakOf(ticks, holds);
  if (spanMs < (endangered ? CONFIRMED_AFTER_MS : HELD_MS)) return null;
  const lastMs = seen.at(-1)?.atMs ?? 0;
  const before = seen.findLast(({ atMs }) => lastMs - atMs >= HELD_MS)?.slot?.retainedBytes ?? 0;
  // What is being worked off will be gone by itself.
  if (!endangered && last.retainedBytes < before) return null;
  return { since, slot: last.name, heldBytes: last.retainedBytes, lagBytes: lagOf(last), endangered };
}

/** Nothing can be read from it any more, whether or not somebody tries. */
function lost(ticks: readonly SlotTick[], { slot }: SlotTick): Stop | null {
  if (slot === null || !isLost(slot)) return null;
  const { spanMs, since } = streakOf(ticks, (tick) => tick.slot?.name === slot.name && isLost(tick.slot));
  if (spanMs < CONFIRMED_AFTER_MS) return null;
  const reason = slot.invalidated ?? slot.status;
  return { how: 'lost', since, slot: slot.name, lagBytes: null, heldBytes: null, reason };
}

/** There is none, and the table is in use: somebody has tried to write into it. */
function missing(ticks: readonly SlotTick[], last: SlotTick, wanted: string | null): Stop | null {
  if (!last.missing || (last.inserted ?? 0) === 0) return null;
  const { seen, spanMs, since } = streakOf(ticks, (tick) => tick.missing);
  if (spanMs < RESTART_MS) return null;
  const before = ticks[ticks.length - seen.length - 1]?.slot ?? null;
  return { how: 'missing', since, slot: wanted ?? before?.name ?? null, lagBytes: null, heldBytes: null };
}

/** Nobody has been connected for longer than a restart takes, and something was written meanwhile. */
function inactive(ticks: readonly SlotTick[], { atMs, slot, inserted }: SlotTick): Stop | null {
  if (slot === null || slot.active) return null;
  const streak = streakOf(ticks, (tick) => isSame(tick, slot) && tick.slot?.active === false);
  const told = slot.inactiveSince === null ? null : Date.parse(slot.inactiveSince);
  const forMs = told === null ? streak.spanMs : atMs - told;
  if (streak.spanMs < CONFIRMED_AFTER_MS || forMs < (readsInRounds(ticks) ? CONFIRMS_WITHIN_MS : RESTART_MS)) return null;
  const since = told ?? streak.since;
  // What was written just before may be told later, and be through.
  const from = streak.seen.find((tick) => tick.atMs >= (since ?? -Infinity) + REPORTED_MS);
  const events = writtenBetween(from, inserted);
  const lagBytes = lagOf(slot);
  if (lagBytes === 0 || (events === null && (forMs < CONFIRMS_WITHIN_MS || (lagBytes ?? 0) < QUIET_BYTES))) return null;
  return { how: 'inactive', since, slot: slot.name, lagBytes, heldBytes: slot.retainedBytes, events, forMs };
}

/** It has moved while nobody was seen to be connected: its reader comes by and goes on. */
const readsInRounds = (ticks: readonly SlotTick[]): boolean =>
  ticks.some(({ slot }, index) => {
    const before = ticks[index - 1]?.slot ?? null;
    return (
      slot !== null &&
      before !== null &&
      !slot.active &&
      !before.active &&
      before.name === slot.name &&
      before.confirmedTo !== slot.confirmedTo
    );
  });

/** Not one byte was confirmed of what was written minutes ago; little log proves nothing, as it may have been rolled back. */
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
      logBehind(tick) >= QUIET_BYTES,
  );
  const seen = streak[at];
  if (seen === undefined || atMs - seen.atMs < CONFIRMS_WITHIN_MS) return null;
  const since = begun === null ? null : seen.atMs;
  const events = writtenBetween(streak[at - 1], inserted);
  return { how: 'silent', since, slot: slot.name, lagBytes: lagOf(slot), heldBytes: slot.retainedBytes, events, forMs: atMs - seen.atMs };
}

function ticksOf({ sight, readings }: SlotHistory): SlotTick[] {
  if (sight === null || sight.why !== null) return [];
  return readings.flatMap(({ asOf, seen }): SlotTick[] => {
    if (seen === null) return [];
    const { slot, why } = chooseSlot(sight, seen);
    // Where the server has slots that could be another's, nobody can say that this one is missing.
    const isMissing = why === 'slot_not_found' && (sight.wanted !== null || seen.slots.length === 0);
    return [{ atMs: Date.parse(asOf), inserted: seen.inserted, slot, missing: isMissing }];
  });
}

/** The newest ticks that saw it, without a pause among them; `since`: when it was first seen, where somebody saw it otherwise before. */
function streakOf(ticks: readonly SlotTick[], sees: (tick: SlotTick) => boolean) {
  const from = ticks.findLastIndex((tick, at) => {
    const next = ticks[at + 1];
    return !sees(tick) || (next !== undefined && next.atMs - tick.atMs > APART_MS);
  });
  const seen = ticks.slice(from + 1);
  const [first, last] = [seen[0]?.atMs ?? null, seen.at(-1)?.atMs ?? 0];
  return { seen, spanMs: last - (first ?? 0), since: seen.length < ticks.length ? first : null };
}

/** It is the same slot and has not been told that anything is through. */
const isSame = ({ slot }: SlotTick, { name, confirmedTo }: SlotSeen): boolean => slot?.name === name && slot.confirmedTo === confirmedTo;

/** Rows written since that tick, rolled back or not; null for none, and where nobody counts. */
function writtenBetween(before: SlotTick | undefined, inserted: number | null): number | null {
  if (before === undefined || before.inserted === null || inserted === null || inserted <= before.inserted) return null;
  return inserted - before.inserted;
}

const lagOf = ({ unconfirmedBytes }: SlotSeen): number | null => (unconfirmedBytes === null ? null : Math.max(0, unconfirmedBytes));

/** Log that was not confirmed when somebody read, in bytes; 0 where nobody can tell. */
const logBehind = ({ slot }: SlotTick): number => (slot === null ? 0 : (lagOf(slot) ?? 0));
