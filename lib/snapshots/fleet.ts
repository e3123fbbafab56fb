/** All outboxes at once. Each line is computed when a new reading arrives, so that two hundred lines are ready when they are requested. */
import type { DatabaseStatus } from '@/lib/database/database';
import { byCode, type DatabaseFailure } from '@/lib/database/failure';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import { outsideRequests } from '@/lib/shared/async/outside-requests';
import { within } from '@/lib/shared/async/within';
import type { FleetEntry, FleetSnapshot, UnreachableReason, FleetDatabase } from '@/lib/shared/figures/fleet';
import { POLL_INTERVAL_MS } from '@/lib/shared/polling';
import { VERDICTS } from '@/lib/shared/figures/verdicts';
import type { OutboxReading } from '@/lib/shared/model';
import type { Answer } from './readings';

/** How long to wait for a newer line: if a recent one will do, if there is one to show, and if that one has no figures. */
const SOON_WITHIN_MS = 50;
const NEWER_WITHIN_MS = 600;
const FIRST_WITHIN_MS = 2_500;
const OLD_MS = 3 * POLL_INTERVAL_MS;

interface FleetOptions {
  directory: OutboxDirectory;
  /** Milliseconds since the epoch. */
  now: () => number;
  latest(id: string): Promise<Answer>;
  /** Milliseconds between two readings of an outbox, while all is well. */
  everyMs(id: string): number;
  /** The figures of an answer; reads the rollups. */
  compose(id: string, answer: Answer): Promise<OutboxReading & Pick<FleetEntry, 'sparkline' | 'sparklineOf'>>;
}

/** Returns a function that reads the fleet as it is known now; `soon`: recent lines will do, newer ones are asked for next. */
export function createFleet({ directory, now, latest, everyMs, compose }: FleetOptions): (soon?: boolean) => Promise<FleetSnapshot> {
  const shown = new Map<string, FleetEntry>();

  async function make(id: string, answer: Answer): Promise<FleetEntry> {
    const { outbox, summary, stale, sparkline, sparklineOf } = await compose(id, answer);
    const { capabilities: _capabilities, ...info } = outbox;
    const { byType: _, ...figures } = summary;
    const unread = answer.reading === null && answer.failure === null;
    const entry = { outbox: info, summary: figures, stale, unread, sparkline, sparklineOf };
    shown.set(id, entry);
    return entry;
  }

  const lineOf = (id: string, answer: Answer): Promise<FleetEntry> =>
    answer.once(['line', answer.failure, ageClass(answer)], () => make(id, answer));

  async function newestOf(id: string): Promise<FleetEntry> {
    const answer = await latest(id);
    // The line of a reading that arrives later is computed then: the next request does not compute two hundred of them at once.
    void answer.coming?.then((newer) => lineOf(id, newer)).catch(() => undefined);
    return lineOf(id, answer);
  }

  async function entryOf(id: string, soon: boolean): Promise<FleetEntry> {
    const before = shown.get(id);
    const newest = newestOf(id);
    if (before === undefined) return newest;
    const willDo = soon && before.stale === null && now() - Date.parse(before.summary.asOf) < OLD_MS;
    const waitMs = before.unread ? FIRST_WITHIN_MS : willDo ? SOON_WITHIN_MS : NEWER_WITHIN_MS;
    return (await within(newest, waitMs)) ?? asOld(before, now());
  }

  return async (soon = false) => {
    const entries = await outsideRequests(() => Promise.all(directory.ids.map((id) => entryOf(id, soon))));
    const times = entries.flatMap(({ stale, unread, summary }) => (stale === null && !unread ? [summary.asOf] : [])).sort();
    const asOf = times[0] ?? new Date(now()).toISOString();
    const slowestMs = Math.max(0, ...directory.ids.map(everyMs));
    return { asOf, everyMs: slowestMs, entries: worstFirst(entries), databases: fleetDatabases(directory) };
  };
}

/** A line is computed again when its reading gets old or the next one fails, and then every 5 s for a minute. */
const ageClass = ({ ageMs, failure }: Answer): number =>
  failure === null && ageMs < OLD_MS ? 0 : 1 + Math.floor(Math.min(ageMs, 60_000) / 5_000);

/** An earlier line, marked as stale if its figures are old by now. */
function asOld(entry: FleetEntry, now: number): FleetEntry {
  const { asOf } = entry.summary;
  const isAsItWas = entry.unread || entry.stale !== null || now - Date.parse(asOf) < OLD_MS;
  return isAsItWas ? entry : { ...entry, stale: { since: asOf, problem: 'timeout' } };
}

export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Of databases that are away the one first in which most waited or was dead when it answered last. Outboxes not read yet come last. */
export function worstFirst(entries: readonly FleetEntry[]): FleetEntry[] {
  const rank = (entry: FleetEntry): number => (entry.unread ? VERDICTS.length : VERDICTS.indexOf(entry.summary.diagnosis.verdict));
  const isAway = ({ unread, summary }: FleetEntry): boolean => !unread && summary.diagnosis.verdict === 'source_down';
  const left = new Map<string, number>();
  for (const { outbox, summary } of entries.filter(isAway)) {
    const { waiting, dead } = summary.depth;
    left.set(outbox.database, (left.get(outbox.database) ?? 0) + (waiting.count ?? 0) + (dead.count ?? 0));
  }
  const size = (entry: FleetEntry): number => (isAway(entry) ? left.get(entry.outbox.database) : entry.summary.depth.waiting.count) ?? -1;
  const since = (entry: FleetEntry): string => (isAway(entry) && entry.summary.diagnosis.since) || '';
  return entries.toSorted((a, b) => rank(a) - rank(b) || size(b) - size(a) || since(a).localeCompare(since(b), 'en'));
}

/** The configured databases and what is known of them without a query; those that are unreachable first, the longest away before others. */
export function fleetDatabases(directory: OutboxDirectory): FleetDatabase[] {
  const databaseOf = directory.ids.map((id) => directory.database(id).id);
  return directory.databases
    .map((database): FleetDatabase => {
      const { state, since, failure, version, roles: connections, server }: DatabaseStatus = database.status();
      const { id, engine } = database;
      const reached = { version, state, since: new Date(since).toISOString(), why: failure && reasonOf(failure) };
      const outboxes = databaseOf.filter((one) => one === id).length;
      return { id, engine: engine.key, ...reached, outboxes, connections, server: { open: server.open, limit: server.limit } };
    })
    .sort(
      (a, b) => Number(b.state === 'down') - Number(a.state === 'down') || (a.state === 'down' ? a.since.localeCompare(b.since, 'en') : 0),
    );
}

/** By SQLSTATE, the error numbers of MySQL and MariaDB, and the codes of sockets. */
const BY_STATE = byCode<UnreachableReason>({
  refused: ['ECONNREFUSED'],
  silent: ['ETIMEDOUT'],
  login: ['28000', '28P01', 1045, 1698],
  missing: ['3D000', 1049],
  full: ['53300', 1040, 1203, 1226],
});

function reasonOf({ state, cause }: DatabaseFailure): UnreachableReason {
  const known = BY_STATE.get(state ?? '');
  if (known !== undefined) return known;
  const message = cause instanceof Error ? cause.message : '';
  return /timeout expired|no connection within|no answer within|ETIMEDOUT/i.test(message) ? 'silent' : 'network';
}
