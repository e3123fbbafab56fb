import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALL_TYPES, seriesOfType, type Additions } from '@/lib/rollup/cell';
import { attemptsMemory, countAttempts, type AttemptsTick, type AttemptsMemory, type CounterMeaning } from './attempts-count';
import type { ObservedRow } from './observer';

const CLAIMS: CounterMeaning = { countsClaims: true, diesUncounted: false, putBackAt: null, goneIsPublished: false };
const FAILURES: CounterMeaning = { countsClaims: false, diesUncounted: false, putBackAt: 3, goneIsPublished: false };
const UNCOUNTED: CounterMeaning = { countsClaims: false, diesUncounted: true, putBackAt: null, goneIsPublished: false };
const MAX = 4;
const TICK_MS = 5_000;
const START = Date.UTC(2026, 0, 1);

const row = (values: Partial<ObservedRow>): ObservedRow => ({
  id: '1',
  type: 'a',
  state: 'retrying',
  attempts: 1,
  createdMs: START - 60_000,
  publishedMs: null,
  diedMs: null,
  ...values,
});

interface Sums {
  failures: number;
  retries: number;
  died: number;
}
function sumsOf(additions: Additions, series = ALL_TYPES): Sums {
  const sums = { failures: 0, retries: 0, died: 0 };
  for (const minute of additions.values()) {
    const cell = minute.get(series);
    if (cell === undefined) continue;
    sums.failures += cell.failures;
    sums.retries += cell.retries;
    sums.died += cell.died;
  }
  return sums;
}

/** Looks one after the other, each at the rows given; the first is the one that counts nothing. */
function watch(meaning: CounterMeaning, ticks: (Partial<AttemptsTick> & { everyMs?: number })[]): Sums {
  let memory: AttemptsMemory | null = null;
  let atMs = START;
  const total = { failures: 0, retries: 0, died: 0 };
  for (const { everyMs = TICK_MS, ...tick } of ticks) {
    atMs += everyMs;
    const counted = countAttempts(memory, { atMs, reach: 'complete', rows: [], gone: [], publishedToMs: atMs, ...tick }, meaning);
    memory = attemptsMemory(JSON.parse(JSON.stringify(counted.memory)));
    expect(memory).toEqual(counted.memory);
    const sums = sumsOf(counted.additions);
    expect(sumsOf(counted.additions, seriesOfType('a'))).toEqual(sums);
    for (const name of ['failures', 'retries', 'died'] as const) total[name] += sums[name];
  }
  return total;
}

describe('attempts between two looks', () => {
  it('count nothing the first time, and nothing after a gap', () => {
    const rows = [row({ attempts: 3 })];
    expect(watch(CLAIMS, [{ rows }])).toEqual({ failures: 0, retries: 0, died: 0 });
    expect(watch(CLAIMS, [{ rows }, { everyMs: 3_600_000, rows: [row({ attempts: 9 })] }])).toEqual({ failures: 0, retries: 0, died: 0 });
  });

  it('count a claim as an attempt that has not failed yet', () => {
    expect(watch(CLAIMS, [{}, { rows: [row({ state: 'processing', attempts: 1 })] }])).toEqual({ failures: 0, retries: 0, died: 0 });
    expect(watch(CLAIMS, [{}, { rows: [row({ state: 'published', attempts: 3 })] }])).toEqual({ failures: 2, retries: 2, died: 0 });
    expect(watch(FAILURES, [{}, { rows: [row({ state: 'published', attempts: 2 })] }])).toEqual({ failures: 2, retries: 2, died: 0 });
  });

  it('count nothing of a row that came dead, long after it died', () => {
    const dead = row({ state: 'dead', attempts: 4, diedMs: START - 3_600_000 });
    expect(watch(FAILURES, [{}, { rows: [dead] }, { rows: [dead] }])).toEqual({ failures: 0, retries: 0, died: 0 });
    expect(watch(FAILURES, [{}, { rows: [{ ...dead, diedMs: START }] }])).toEqual({ failures: 4, retries: 3, died: 1 });
  });

  it('count a death that the counter does not tell as one more failure', () => {
    const retrying = row({ attempts: 5 });
    expect(watch(UNCOUNTED, [{ rows: [retrying] }, { rows: [{ ...retrying, state: 'dead', diedMs: START }] }])).toEqual({
      failures: 1,
      retries: 1,
      died: 1,
    });
  });

  it('count an event once whose published row is read by its key first and by its time later', () => {
    const published = row({ state: 'published', attempts: 2, publishedMs: START + 9_000 });
    const ticks = [
      { rows: [row({ attempts: 1 })], publishedToMs: START },
      { rows: [published], publishedToMs: START + 5_000 },
      { rows: [published], publishedToMs: START + 10_000 },
    ];
    expect(watch(FAILURES, ticks)).toEqual({ failures: 1, retries: 2, died: 0 });
  });

  it('count nothing for a row that was archived, nor when it comes back dead', () => {
    const dead = row({ state: 'dead', attempts: 4, diedMs: START });
    const ticks = [{ rows: [row({ attempts: 3 })] }, { rows: [{ ...dead, state: 'archived' as const }] }, {}, { rows: [dead] }];
    expect(watch(UNCOUNTED, ticks)).toEqual({ failures: 0, retries: 0, died: 0 });
  });

  it('count nothing of rows beyond what could be followed, but for new ones', () => {
    const ticks = [
      { reach: 'capped' as const },
      { reach: 'capped' as const, rows: [row({ id: 'old', attempts: 7 }), row({ id: 'new', attempts: 2, createdMs: START + 6_000 })] },
    ];
    expect(watch(FAILURES, ticks)).toEqual({ failures: 2, retries: 1, died: 0 });
  });

  it('count the last attempt of a row that goes when it is published', () => {
    const meaning = { ...FAILURES, goneIsPublished: true };
    expect(watch(meaning, [{ rows: [row({ attempts: 2 })] }, { gone: ['1'] }])).toEqual({ failures: 0, retries: 1, died: 0 });
    expect(watch(FAILURES, [{ rows: [row({ attempts: 2 })] }, { gone: ['1'] }])).toEqual({ failures: 0, retries: 0, died: 0 });
  });

  it('never throw for what somebody else has remembered', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void attemptsMemory(value)));
  });
});

type Act = 'succeed' | 'fail' | 'retry' | 'requeue' | 'archive' | 'restore' | 'purge';

/** An event as a relay and operators treat it, with what really happened to it. */
class Played {
  state: ObservedRow['state'] | 'gone' = 'pending';
  attempts = 0;
  diedMs: number | null = null;
  publishedMs: number | null = null;
  readonly truth: Sums = { failures: 0, retries: 0, died: 0 };

  constructor(
    readonly id: string,
    private readonly meaning: CounterMeaning,
  ) {}

  act(act: Act, nowMs: number): void {
    const open = this.state === 'pending' || this.state === 'retrying';
    if ((act === 'succeed' || act === 'fail') && open) this.attempt(act === 'fail', nowMs);
    if (act === 'retry' && this.state === 'dead') {
      this.attempts = this.meaning.putBackAt ?? this.attempts;
      this.state = 'retrying';
    }
    if (act === 'requeue' && (this.state === 'dead' || this.state === 'retrying')) {
      this.attempts = 0;
      this.state = 'pending';
    }
    if (act === 'archive' && (open || this.state === 'dead') && this.attempts > 0) this.state = 'archived';
    if (act === 'restore' && this.state === 'archived') {
      this.state = 'dead';
      this.diedMs = nowMs;
    }
    if (act === 'purge' && this.state === 'published') this.state = 'gone';
  }

  private attempt(fails: boolean, nowMs: number): void {
    if (this.attempts > 0) this.truth.retries += 1;
    if (fails) this.truth.failures += 1;
    const buried = fails && this.meaning.diesUncounted && this.attempts >= MAX;
    if (this.meaning.countsClaims || (fails && !buried)) this.attempts += 1;
    const dies = fails && (this.meaning.diesUncounted ? buried : this.attempts >= MAX);
    if (dies) this.truth.died += 1;
    this.state = dies ? 'dead' : fails ? 'retrying' : 'published';
    if (dies) this.diedMs = nowMs;
    if (!fails) this.publishedMs = nowMs;
  }

  row(): ObservedRow | null {
    const { id, state, attempts, diedMs, publishedMs } = this;
    return state === 'gone' ? null : row({ id, state, attempts, diedMs, publishedMs });
  }
}

/** Looks as the observer does: open and dead rows, published ones by their time, the rest by its key. */
function play(meaning: CounterMeaning, rounds: [number, Act][][]): { counted: Sums; truth: Sums } {
  const events = Array.from({ length: 3 }, (_, index) => new Played(String(index), meaning));
  const counted = { failures: 0, retries: 0, died: 0 };
  let memory = countAttempts(null, { atMs: START, reach: 'complete', rows: [], gone: [], publishedToMs: START }, meaning).memory;
  let nowMs = START;
  const rest = Array.from({ length: 4 }, () => []);
  for (const round of [...rounds, ...rest]) {
    for (const [event, act] of round) events[event]?.act(act, (nowMs += 1));
    nowMs += TICK_MS;
    const publishedToMs = nowMs - 2 * TICK_MS;
    const rows = events.map((event) => event.row()).filter((one) => one !== null);
    const first = rows.filter(
      ({ state, attempts, publishedMs }) =>
        state === 'dead' ||
        (attempts > 0 &&
          state !== 'archived' &&
          (state !== 'published' || ((publishedMs ?? 0) >= (memory.publishedToMs ?? 0) && (publishedMs ?? 0) < publishedToMs))),
    );
    const missing = memory.rows.map(([id]) => id).filter((id) => !first.some((one) => one.id === id));
    const second = rows.filter(({ id }) => missing.includes(id));
    const gone = missing.filter((id) => !second.some((one) => one.id === id));
    const tick = countAttempts(memory, { atMs: nowMs, reach: 'complete', rows: [...first, ...second], gone, publishedToMs }, meaning);
    memory = tick.memory;
    const sums = sumsOf(tick.additions);
    for (const name of ['failures', 'retries', 'died'] as const) counted[name] += sums[name];
  }
  const truth = { failures: 0, retries: 0, died: 0 };
  for (const event of events) for (const name of ['failures', 'retries', 'died'] as const) truth[name] += event.truth[name];
  return { counted, truth };
}

const relayActs = fc.constantFrom<Act[]>('succeed', 'fail', 'fail', 'fail');
const allActs = fc.constantFrom<Act[]>('succeed', 'fail', 'fail', 'fail', 'fail', 'retry', 'requeue', 'archive', 'restore');
const againActs = fc.constantFrom<Act[]>('succeed', 'fail', 'fail', 'fail', 'fail', 'retry', 'requeue');
const one = (act: fc.Arbitrary<Act>): fc.Arbitrary<[number, Act]> => fc.tuple(fc.nat(2), act);

describe.each([
  ['a counter of claims', CLAIMS],
  ['a counter of failures', FAILURES],
  ['a counter that the last failure does not raise', UNCOUNTED],
])('%s', (_, meaning) => {
  it('tells what a relay did, however much of it between two looks', () => {
    fc.assert(
      fc.property(fc.array(fc.array(one(relayActs), { maxLength: 8 }), { maxLength: 12 }), (rounds) => {
        const { counted, truth } = play(meaning, rounds);
        expect(counted).toEqual(truth);
      }),
    );
  });

  it('tells what happened under the hands of operators when they are seen one act at a time', () => {
    fc.assert(
      fc.property(fc.array(fc.array(one(allActs), { maxLength: 1 }), { maxLength: 60 }), (rounds) => {
        const { counted, truth } = play(meaning, rounds);
        expect(counted).toEqual(truth);
      }),
    );
  });

  it('never tells more than happened, however often an event is retried and requeued between two looks', () => {
    fc.assert(
      fc.property(fc.array(fc.array(one(againActs), { maxLength: 8 }), { maxLength: 12 }), (rounds) => {
        const { counted, truth } = play(meaning, rounds);
        expect(counted.failures).toBeLessThanOrEqual(truth.failures);
        expect(counted.retries).toBeLessThanOrEqual(truth.retries);
      }),
    );
  });
});
