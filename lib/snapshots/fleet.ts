/** All outboxes at once: each line is made when there is a new reading, so that two hundred of them are at hand when somebody asks. */
import type { DatabaseStatus } from '@/lib/database/database';
import type { DatabaseFailure } from '@/lib/database/failure';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import { outsideRequests } from '@/lib/shared/async/outside-requests';
import { within } from '@/lib/shared/async/within';
import type { FleetEntry, FleetSnapshot, UnreachableReason, FleetDatabase } from '@/lib/shared/figures/fleet';
import { POLL_INTERVAL_MS } from '@/lib/shared/polling';
import { VERDICTS } from '@/lib/shared/figures/verdicts';
import type { OutboxReading } from '@/lib/shared/model';
import type { Answer } from './readings';

/** Where a line was shown before, a newer one is waited for this long, and this long where it had no figures yet. */
const NEWER_WITHIN_MS = 600;
const FIRST_WITHIN_MS = 2_500;
/** Figures older than this are old, whoever has them. */
const OLD_MS = 3 * POLL_INTERVAL_MS;

interface FleetOptions {
  directory: OutboxDirectory;
  /** Milliseconds since the epoch. */
  now: () => number;
  latest(id: string): Promise<Answer>;
  /** Milliseconds between two readings of an outbox, while all is well. */
  everyMs(id: string): number;
  /** What an answer says; reads the rollups. */
  compose(id: string, answer: Answer): Promise<OutboxReading & Pick<FleetEntry, 'sparkline'>>;
}

/** Answers the fleet as it is known now. */
export function createFleet({ directory, now, latest, everyMs, compose }: FleetOptions): () => Promise<FleetSnapshot> {
  /** The newest line of each outbox. */
  const shown = new Map<string, FleetEntry>();

  async function make(id: string, answer: Answer): Promise<FleetEntry> {
    const { outbox, summary, stale, sparkline } = await compose(id, answer);
    const { capabilities, ...info } = outbox;
    const { byType: _, ...figures } = summary;
    const unread = answer.reading === null && answer.failure === null;
    const entry = { outbox: { ...info, tellsPublished: capabilities.fields.publishedAt }, summary: figures, stale, unread, sparkline };
    shown.set(id, entry);
    return entry;
  }

  const lineOf = (id: string, answer: Answer): Promise<FleetEntry> =>
    answer.once(['line', answer.failure, ageClass(answer)], () => make(id, answer));

  async function newestOf(id: string): Promise<FleetEntry> {
    const answer = await latest(id);
    // Whoever asks next finds the line of a reading that comes after this answer: two hundred of them are not made at once then.
    void answer.coming?.then((newer) => lineOf(id, newer)).catch(() => undefined);
    return lineOf(id, answer);
  }

  async function entryOf(id: string): Promise<FleetEntry> {
    const before = shown.get(id);
    const newest = newestOf(id);
    if (before === undefined) return newest;
    return (await within(newest, before.unread ? FIRST_WITHIN_MS : NEWER_WITHIN_MS)) ?? asOld(before, now());
  }

  return async () => {
    const entries = await outsideRequests(() => Promise.all(directory.ids.map(entryOf)));
    const asOf = entries.flatMap(({ stale, unread, summary }) => (stale === null && !unread ? [summary.asOf] : [])).sort();
    return {
      asOf: asOf[0] ?? new Date(now()).toISOString(),
      everyMs: Math.max(0, ...directory.ids.map(everyMs)),
      entries: entries.sort(worstFirst),
      databases: fleetDatabases(directory),
    };
  };
}

/** How old a reading is makes a difference when it stops being one of now, and while the next one fails. */
const ageClass = ({ ageMs, failure }: Answer): number =>
  failure === null && ageMs < OLD_MS ? 0 : 1 + Math.floor(Math.min(ageMs, 60_000) / 5_000);

/** A line that was made when its figures were new. */
function asOld(entry: FleetEntry, now: number): FleetEntry {
  const { asOf } = entry.summary;
  return entry.unread || entry.stale !== null || now - Date.parse(asOf) < OLD_MS
    ? entry
    : { ...entry, stale: { since: asOf, problem: 'timeout' } };
}

/** Lets whoever else waits for the processor have it. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Of what is not known yet nobody can say that it is bad. */
function worstFirst(a: FleetEntry, b: FleetEntry): number {
  const rank = (entry: FleetEntry): number => (entry.unread ? VERDICTS.length : VERDICTS.indexOf(entry.summary.diagnosis.verdict));
  return rank(a) - rank(b) || (b.summary.depth.waiting.count ?? -1) - (a.summary.depth.waiting.count ?? -1);
}

/** The databases of the configuration and what is known of them without asking them; those that are away first. */
export function fleetDatabases(directory: OutboxDirectory): FleetDatabase[] {
  const databaseOf = directory.ids.map((id) => directory.database(id).id);
  return directory.databases
    .map((database): FleetDatabase => {
      const { state, since, failure, version, roles, server }: DatabaseStatus = database.status();
      return {
        id: database.id,
        engine: database.engine.key,
        version,
        state,
        since: new Date(since).toISOString(),
        why: failure === null ? null : reasonOf(failure),
        outboxes: databaseOf.filter((id) => id === database.id).length,
        connections: roles,
        server: { open: server.open, limit: server.limit },
      };
    })
    .sort((a, b) => Number(b.state === 'down') - Number(a.state === 'down'));
}

/** By SQLSTATE, the error numbers of MySQL and MariaDB, and the codes of sockets. */
const BY_STATE: Record<string, UnreachableReason> = {
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'silent',
  '28000': 'login',
  '28P01': 'login',
  '1045': 'login',
  '1698': 'login',
  '3D000': 'missing',
  '1049': 'missing',
  '53300': 'full',
  '1040': 'full',
  '1203': 'full',
  '1226': 'full',
};

function reasonOf({ state, cause }: DatabaseFailure): UnreachableReason {
  const known = state === null ? undefined : BY_STATE[state];
  if (known !== undefined) return known;
  const message = cause instanceof Error ? cause.message : '';
  return /timeout expired|no connection within|no answer within|ETIMEDOUT/i.test(message) ? 'silent' : 'network';
}
