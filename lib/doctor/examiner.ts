import type { OutboxDirectory } from '@/lib/outbox/directory';
import { headlineOf, rankFindings, type DoctorHeadline, type DoctorSnapshot, type Examination } from '@/lib/shared/doctor';
import { Problem } from '@/lib/shared/problems';
import { Queue } from '@/lib/shared/async/queue';
import { within } from '@/lib/shared/async/within';
import { getOrMake } from '@/lib/shared/group-by';
import { keepSample, readSamples, readSilences } from '@/lib/store/doctor';
import type { StoreDb } from '@/lib/store/store';
import { DatabaseFailure } from '@/lib/database/failure';
import { examineOutbox } from './examine';
import { sampleFrom } from './samples';

/** An examination is shared by all requests for this long. */
const SHARED_MS = 600_000;
/** A failed one is retried after this long. */
const FAILED_MS = 60_000;
/** A request for a new one within this time gets the last. */
const LEAST_MS = 5_000;
/** Examinations under way at the same time, all databases together. */
const AT_ONCE = 3;
/** After this long an examination is not waited for, and its turn goes to the next. */
const PATIENCE_MS = 12_000;

interface ExaminerOptions {
  directory: OutboxDirectory;
  store: { db: StoreDb };
  now?: () => number;
  onFailure?: (outbox: string, error: unknown) => void;
}

export type Examiner = ReturnType<typeof createExaminer>;

interface Entry {
  examination: Examination | null;
  /** Milliseconds since the epoch of the last attempt. */
  triedAt: number;
  inFlight: Promise<void> | null;
}

/** Examinations of every outbox, one for all viewers of this process, made on request. */
export function createExaminer({ directory, store, now = Date.now, onFailure }: ExaminerOptions) {
  const entries = new Map<string, Entry>();
  const queue = new Queue(AT_ONCE);
  const entryOf = (id: string): Entry => {
    directory.settings(id);
    return getOrMake(entries, id, () => ({ examination: null, triedAt: -Infinity, inFlight: null }));
  };

  async function make(id: string, entry: Entry): Promise<void> {
    const { turn, leave } = queue.enter(id);
    await turn;
    try {
      const made = await within(examine(id), PATIENCE_MS);
      if (made === null) throw new Problem('timeout', 'The examination took too long');
      entry.examination = made;
    } catch (error) {
      onFailure?.(id, error);
      entry.examination = failed(directory, id, entry.examination, error, now());
    } finally {
      entry.triedAt = now();
      leave();
    }
  }

  async function examine(id: string): Promise<Examination> {
    const outbox = await directory.get(id);
    const samples = (await readSamples(store.db, id)).flatMap(sampleFrom);
    const { examination, sample } = await examineOutbox(outbox, samples, now);
    await keepSample(store.db, id, sample.at, JSON.stringify(sample));
    return examination;
  }

  const begin = (id: string, entry: Entry): Promise<void> => (entry.inFlight ??= make(id, entry).finally(() => (entry.inFlight = null)));

  const isDue = ({ examination, triedAt }: Entry): boolean =>
    now() - triedAt >= (examination === null || examination.problem !== null ? FAILED_MS : SHARED_MS);

  async function silenced(examinations: readonly Examination[]): Promise<Examination[]> {
    const ids = examinations.map(({ outbox }) => outbox);
    const silences = await readSilences(store.db, ids);
    return examinations.map((examination) => {
      const own = silences.get(examination.outbox);
      const findings = examination.findings.map((finding) => ({ ...finding, silence: own?.get(finding.id) ?? null }));
      return { ...examination, findings: rankFindings(findings) };
    });
  }

  function known(ids: readonly string[]): Examination[] {
    return ids.flatMap((id) => {
      const entry = entryOf(id);
      if (isDue(entry)) void begin(id, entry);
      return entry.examination === null ? [] : [entry.examination];
    });
  }

  return {
    /** What is known now; outboxes that are due are examined in the background. Throws Problem `not_found` for an unknown id. */
    async snapshot(outbox?: string): Promise<DoctorSnapshot> {
      const ids = outbox === undefined ? directory.ids : [outbox];
      const examinations = await silenced(known(ids));
      return { asOf: new Date(now()).toISOString(), examinations, waiting: ids.filter((id) => entryOf(id).examination === null) };
    },
    /** Examines now, unless that was done within five seconds; for one that is unreachable returns its last findings with `problem`. */
    async examine(outbox: string): Promise<Examination> {
      const entry = entryOf(outbox);
      if (entry.inFlight !== null || entry.examination === null || now() - entry.triedAt >= LEAST_MS) await begin(outbox, entry);
      const { examination } = entry;
      if (examination === null) throw new Problem('unavailable', `Outbox ${outbox} could not be examined`);
      const [answer = examination] = await silenced([examination]);
      return answer;
    },
    examineAll(): void {
      for (const id of directory.ids) {
        const entry = entryOf(id);
        if (now() - entry.triedAt >= LEAST_MS) void begin(id, entry);
      }
    },
    /** The worst open finding by outbox, without waiting for a database; outboxes that are due are examined in the background. */
    async headlines(): Promise<Map<string, DoctorHeadline>> {
      const examinations = await silenced(known(directory.ids));
      return new Map(
        examinations.flatMap(({ outbox, findings }): [string, DoctorHeadline][] => {
          const headline = headlineOf(findings);
          return headline === null ? [] : [[outbox, headline]];
        }),
      );
    },
  };
}

/** The last findings, with the reason why there are no new ones. */
function failed(directory: OutboxDirectory, id: string, last: Examination | null, error: unknown, now: number): Examination {
  const problem = error instanceof DatabaseFailure || error instanceof Problem ? problemOf(error.code) : 'unusable';
  if (last !== null) return { ...last, problem };
  const { id: database, engine } = directory.database(id);
  const about = { outbox: id, name: directory.settings(id).name, database, engine: engine.key, table: '' };
  return { ...about, at: new Date(now).toISOString(), tookMs: 0, findings: [], tables: [], statisticsSince: null, unseen: [], problem };
}

const problemOf = (code: string): Examination['problem'] =>
  code === 'timeout' || code === 'locked' ? 'timeout' : code === 'connection' || code === 'unavailable' ? 'unavailable' : 'unusable';
