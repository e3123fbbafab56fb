/** Causes of events that failed: what tells them apart, and how many events, since when and for how much each one has. */
import { digestOf } from '@/lib/database/digest';
import { byCount, type DeadEvent, type CountedCause } from '@/lib/shared/dead-letter-groups';
import { CAUSE_RULES, causeText, errorTemplate } from '@/lib/shared/lists/cause';
import type { Cause } from '@/lib/shared/model';
import { type Money, sumAmounts } from '@/lib/shared/text/money';

/** The same for all events of a cause, and of no other: of the rules, the type and the template of the error. */
export const fingerprintOf = ({ type, error }: Cause): string =>
  digestOf([CAUSE_RULES, type, error === null ? null : errorTemplate(error)]).slice(0, 16);

/** The same for many events, each text of an error once: thousands of events share a few. */
export function causeIds(): (cause: Cause) => string {
  const known = new Map<string, string>();
  return (cause) => {
    const key = JSON.stringify([cause.type, cause.error === null ? null : causeText(cause.error)]);
    const id = known.get(key) ?? fingerprintOf(cause);
    if (known.size < IDS_KNOWN) known.set(key, id);
    return id;
  };
}

const IDS_KNOWN = 10_000;

/** Whether a cause that was asked for is named by its fingerprint; otherwise it is an error's text or template. */
export const isFingerprint = (cause: string): boolean => /^[0-9a-f]{16}$/.test(cause);

const SAMPLES = 3;

type Times = [first: string, last: string] | null;

interface Tally extends Cause {
  id: string;
  /** The error while all texts are the same, then their template. */
  same: boolean;
  count: number;
  died: Times;
  created: Times;
  samples: { id: string; text: string | null }[];
  sums: Money<string>[];
  summed: number;
}

/** Counts events (newest first) by cause, any number of them one after the other. */
export class CauseTally {
  rows = 0;
  /** Events of causes that there was no room for. */
  others = 0;
  private readonly found = new Map<string, Tally>();

  /** Counts `most` causes, those that come first. */
  constructor(private readonly most = Infinity) {}

  /** Returns the fingerprint of each. */
  add(events: readonly DeadEvent[]): string[] {
    const idOf = causeIds();
    const amounts = new Map<Tally, Money<string | null>[]>();
    const ids = events.map((event) => {
      const text = event.error === null ? null : causeText(event.error);
      const id = idOf(event);
      const tally = this.found.get(id) ?? this.begin(id, event);
      if (tally === null) this.others += 1;
      else {
        count(tally, event, text);
        const { amount = null, currency = null } = event;
        if (amount !== null) amounts.set(tally, [...(amounts.get(tally) ?? []), { amount, currency }]);
      }
      return id;
    });
    for (const [tally, told] of amounts) {
      tally.sums = sumAmounts([...tally.sums, ...told]);
      tally.summed += told.filter((amount) => sumAmounts([amount]).length > 0).length;
    }
    this.rows += events.length;
    return ids;
  }

  private begin(id: string, { type, error }: Cause): Tally | null {
    if (this.found.size >= this.most) return null;
    const begun = { samples: [], sums: [], summed: 0, count: 0, died: null, created: null, same: true };
    const tally: Tally = { id, type, error: error === null ? null : causeText(error), ...begun };
    this.found.set(id, tally);
    return tally;
  }

  /** Largest first. */
  causes(): CountedCause[] {
    return [...this.found.values()]
      .map(({ same, died, created, samples, error, ...cause }): CountedCause => {
        const [first = null, last = null] = died ?? created ?? [];
        return {
          ...cause,
          error: error === null || same ? error : errorTemplate(error),
          firstSeenAt: first,
          lastSeenAt: last,
          seen: died === null ? 'created' : 'died',
          samples: samples.map((sample) => sample.id),
        };
      })
      .sort(byCount);
  }
}

function count(tally: Tally, { id, createdAt, diedAt = null }: DeadEvent, text: string | null): void {
  tally.count += 1;
  tally.died = widened(tally.died, diedAt);
  tally.created = widened(tally.created, createdAt);
  if (text !== tally.error) tally.same = false;
  if (tally.samples.length < SAMPLES && tally.samples.every((sample) => sample.text !== text)) tally.samples.push({ id, text });
}

function widened(times: Times, at: string | null): Times {
  if (at === null) return times;
  if (times === null) return [at, at];
  return [at < times[0] ? at : times[0], at > times[1] ? at : times[1]];
}

/** Several causes as one, called like the first, for whoever cannot tell them apart. */
export function mergedCause(first: CountedCause, others: readonly CountedCause[]): CountedCause {
  const causes = [first, ...others];
  const seen = causes.some((one) => one.seen === 'died') ? 'died' : 'created';
  const times = (name: 'firstSeenAt' | 'lastSeenAt') => causes.flatMap((one) => (one.seen === seen && one[name]) || []).sort();
  return {
    ...first,
    count: causes.reduce((sum, one) => sum + one.count, 0),
    firstSeenAt: times('firstSeenAt')[0] ?? null,
    lastSeenAt: times('lastSeenAt').at(-1) ?? null,
    seen,
    samples: causes.flatMap(({ samples }) => samples).slice(0, SAMPLES),
    sums: sumAmounts(causes.flatMap(({ sums }) => sums)),
    summed: causes.reduce((sum, one) => sum + one.summed, 0),
  };
}
