/** All outboxes at once: each line is made when there is a new reading, so that two hundred of them are at hand when somebody asks. */
import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { FleetEntry, FleetSnapshot } from '@/lib/shared/figures/fleet';
import type { OutboxReading } from '@/lib/shared/model';
import { outsideRequests } from '@/lib/shared/async/outside-requests';
import { VERDICTS } from '@/lib/shared/figures/verdicts';
import { within } from '@/lib/shared/async/within';
import { fleetDatabases } from './fleet-databases';
import type { Answer } from './readings';

/** Where a line was shown before, a newer one is waited for this long, and this long where it had no figures yet. */
const NEWER_WITHIN_MS = 600;
const FIRST_WITHIN_MS = 2_500;
/** Figures older than this are old, whoever has them. */
const OLD_MS = 15_000;

export interface FleetOptions {
  directory: OutboxDirectory;
  /** Milliseconds since the epoch. */
  now: () => number;
  latest(id: string): Promise<Answer>;
  /** Milliseconds between two readings of an outbox, while all is well. */
  everyMs(id: string): number;
  /** What an answer says; reads the rollups. */
  compose(id: string, answer: Answer): Promise<OutboxReading & Pick<FleetEntry, 'sparkline'>>;
}

interface Line {
  /** What it is made of. */
  of: Answer;
  made: FleetEntry | null;
  /** What was shown before, as long as it is not made; null where there was nothing. */
  earlier: FleetEntry | null;
  making: Promise<FleetEntry>;
}

/** Answers the fleet as it is known now. */
export function createFleet({ directory, now, latest, everyMs, compose }: FleetOptions): () => Promise<FleetSnapshot> {
  const lines = new Map<string, Line>();

  async function make(id: string, answer: Answer): Promise<FleetEntry> {
    const { outbox, summary, stale, sparkline } = await compose(id, answer);
    const { capabilities, ...info } = outbox;
    const { byType: _, ...figures } = summary;
    return {
      outbox: { ...info, tellsPublished: capabilities.fields.publishedAt },
      summary: figures,
      stale,
      unread: answer.reading === null && answer.failure === null,
      sparkline,
    };
  }

  async function entryOf(id: string): Promise<FleetEntry> {
    const before = lines.get(id);
    const shown = before?.made ?? before?.earlier ?? null;
    const newest = newestOf(id);
    if (shown === null) return newest;
    return (await within(newest, shown.unread ? FIRST_WITHIN_MS : NEWER_WITHIN_MS)) ?? asOld(shown, now());
  }

  async function newestOf(id: string): Promise<FleetEntry> {
    const answer = await latest(id);
    // Whoever asks next finds the line of a reading that comes after this answer: two hundred of them are not made at once then.
    void answer.coming?.then((newer) => lineOf(id, newer));
    return lineOf(id, answer).making;
  }

  function lineOf(id: string, answer: Answer): Line {
    const before = lines.get(id);
    return before !== undefined && isSame(before.of, answer) ? before : begin(id, answer, before);
  }

  function begin(id: string, answer: Answer, before: Line | undefined): Line {
    const line: Line = { of: answer, made: null, earlier: before?.made ?? before?.earlier ?? null, making: make(id, answer) };
    line.making.then(
      (entry) => Object.assign(line, { made: entry, earlier: null }),
      () => lines.get(id) === line && lines.delete(id),
    );
    lines.set(id, line);
    return line;
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

/** Nothing that a line says has changed. */
function isSame(a: Answer, b: Answer): boolean {
  return (
    a.reading === b.reading &&
    a.outbox === b.outbox &&
    a.failure?.kind === b.failure?.kind &&
    a.failure?.since === b.failure?.since &&
    ageClass(a) === ageClass(b)
  );
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
export const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Of what is not known yet nobody can say that it is bad. */
function worstFirst(a: FleetEntry, b: FleetEntry): number {
  const rank = (entry: FleetEntry): number => (entry.unread ? VERDICTS.length : VERDICTS.indexOf(entry.summary.diagnosis.verdict));
  return rank(a) - rank(b) || (b.summary.depth.waiting.count ?? -1) - (a.summary.depth.waiting.count ?? -1);
}
