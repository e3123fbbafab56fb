import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALL_TYPES, TOUCHED, addCell, emptyCell, type Cell, meanErrorMs } from '@/lib/rollup/cell';
import { bucketOf } from '@/lib/rollup/histogram';
import {
  countDepartures,
  countUnseen,
  departureMemory,
  type DepartureMemory,
  type DepartureRow,
  type DepartureTick,
  type Flow,
} from './departures-count';
import { GAP_MS, type Act } from './observer';

const START = Date.UTC(2026, 0, 1);
const NOTHING = { capped: false, rows: [], gone: [], acts: [], deletes: false, deadStay: true, recent: null, counts: null };
const LOOK: DepartureTick = { atMs: START, ...NOTHING };

/** An event; times are milliseconds after START. `committedMs`: when its row could be seen first. */
interface Event {
  createdMs: number;
  committedMs: number;
  publishedMs: number;
}

const eventsOver = (spanMs: number): fc.Arbitrary<Event[]> =>
  fc.array(
    fc
      .tuple(fc.nat(spanMs), fc.oneof(fc.constant(0), fc.nat(5_000)), fc.nat(6_000))
      .map(([createdMs, lateMs, waitMs]) => ({ createdMs, committedMs: createdMs + lateMs, publishedMs: createdMs + lateMs + waitMs })),
    { maxLength: 60 },
  );
const ticksOver = (spanMs: number): fc.Arbitrary<number[]> =>
  fc.uniqueArray(fc.integer({ min: 1_000, max: spanMs }), { minLength: 1, maxLength: 30 }).map((times) => times.sort((a, b) => a - b));

interface Way {
  /** Whether rows go when they are published, and are counted by statistics that are this late. */
  deletes: boolean;
  lateMs: number;
}

/** Looks at a table in which these events come and go; answers everything counted, and what should be. */
function play(events: Event[], ticksMs: number[], { deletes, lateMs }: Way): { counted: Cell; truth: number } {
  let memory: DepartureMemory | null = null;
  const counted = emptyCell();
  const endMs = Math.max(ticksMs.at(-1) ?? 0, ...events.map(({ publishedMs }) => publishedMs)) + lateMs;
  // From the last event on there are looks enough to find everything.
  const settled = Array.from({ length: 12 }, (_, index) => endMs + (index + 1) * 1_000);
  for (const tickedMs of [...ticksMs, ...settled]) {
    const atMs = START + tickedMs;
    const there = events.filter(({ committedMs, publishedMs }) => committedMs <= tickedMs && !(deletes && publishedMs <= tickedMs));
    const rows = there.map((event): DepartureRow => {
      const isPublished = event.publishedMs <= tickedMs;
      const id = String(events.indexOf(event));
      return { id, type: 'a', state: isPublished ? 'published' : 'pending', createdMs: START + event.createdMs, publishedMs: null };
    });
    const since: number = memory?.recent?.sinceMs ?? atMs - 10_000;
    const open = rows.filter(({ state }) => state === 'pending');
    const recent = rows.filter(({ state, createdMs }) => state === 'published' && (createdMs ?? 0) >= since);
    const found = deletes ? open : [...open, ...recent];
    const missing: string[] = (memory?.open ?? []).map(([id]) => id).filter((id) => !found.some((one) => one.id === id));
    const byKey = rows.filter(({ id }) => missing.includes(id));
    const times = found.map(({ createdMs }) => createdMs ?? 0);
    const reported = (time: (event: Event) => number): number => events.filter((event) => time(event) <= tickedMs - lateMs).length;
    const tick: DepartureTick = {
      atMs,
      capped: false,
      rows: [...found, ...byKey],
      gone: missing.filter((id) => !byKey.some((one) => one.id === id)),
      acts: [],
      deletes,
      deadStay: true,
      recent: !deletes ? { fromMs: since, newestMs: times.length === 0 ? null : Math.max(...times), newestKey: null } : null,
      counts: deletes
        ? {
            inserted: reported((event) => event.committedMs),
            updated: 0,
            deleted: reported((event) => event.publishedMs),
            depth: open.length,
          }
        : null,
    };
    const answer = countDepartures(memory, tick);
    memory = departureMemory(JSON.parse(JSON.stringify(answer.memory)));
    for (const [, minute] of [...answer.additions].sort(([a], [b]) => a - b)) addCell(counted, minute.get(ALL_TYPES) ?? emptyCell());
  }
  const first = ticksMs[0] ?? 0;
  return { counted, truth: events.filter(({ publishedMs }) => publishedMs > first).length };
}

describe('events that are followed from look to look', () => {
  it('are counted once each, seen open or not, committed late or not', () => {
    fc.assert(
      fc.property(eventsOver(30_000), ticksOver(30_000), (events, ticksMs) => {
        // Rows are new for ten seconds: looks for new ones have to come more often.
        const often = Array.from({ length: 10 }, (_, index) => (ticksMs[0] ?? 0) + index * 3_000);
        const ticks = [...new Set([...ticksMs, ...often])].sort((a, b) => a - b);
        const { counted, truth } = play(events, ticks, { deletes: false, lateMs: 0 });
        expect(counted.published).toBe(truth);
        expect(counted.created).toBe(truth);
      }),
    );
  });

  it('are counted once each where they go, however late the statistics are', () => {
    fc.assert(
      fc.property(eventsOver(30_000), ticksOver(30_000), fc.nat(5_000), (events, ticksMs, lateMs) => {
        const { counted, truth } = play(events, ticksMs, { deletes: true, lateMs });
        // What was reported late at the first look cannot be told from what came after it.
        const first = ticksMs[0] ?? 0;
        const before = events.filter(({ publishedMs }) => publishedMs <= first && publishedMs > first - lateMs).length;
        expect(counted.published).toBeGreaterThanOrEqual(truth);
        expect(counted.published).toBeLessThanOrEqual(truth + before);
      }),
    );
  });

  it('are forgotten over a gap, and nothing in it is counted', () => {
    const row: DepartureRow = { id: '1', type: 'a', state: 'pending', createdMs: START, publishedMs: null };
    const tick = { ...LOOK, rows: [row] };
    const { memory } = countDepartures(null, tick);
    const published = { ...tick, rows: [{ ...row, state: 'published' as const }] };
    expect(countDepartures(memory, { ...published, atMs: START + 1_000 }).additions.size).toBe(1);
    expect(countDepartures(memory, { ...published, atMs: START + GAP_MS + 1 }).additions.size).toBe(0);
  });

  it('take the time of publishing from their row where it has one', () => {
    const row: DepartureRow = { id: '1', type: 'a', state: 'pending', createdMs: START + 250, publishedMs: null };
    const tick = { ...LOOK, atMs: START + 1_000, rows: [row] };
    const { memory } = countDepartures(null, tick);
    const published = { ...row, state: 'published' as const, publishedMs: START + 1_550 };
    const { additions } = countDepartures(memory, { ...tick, atMs: START + 9_000, rows: [published] });
    expect(additions.get(START / 60_000)?.get(ALL_TYPES)).toMatchObject({ published: 1, latencySumMs: 1_300, how: 0, resolutionMs: 0 });
  });

  it('have waited for as long as ticks found them waiting, none of them further off than the longest tick', () => {
    fc.assert(
      fc.property(eventsOver(30_000), ticksOver(30_000), (events, ticksMs) => {
        const ticks = [...new Set([0, ...ticksMs])].sort((a, b) => a - b);
        const { counted } = play(events, ticks, { deletes: true, lateMs: 0 });
        const [first = 0] = ticks;
        const seen = events.filter(({ publishedMs }) => publishedMs > first);
        const waited = (since: (event: Event) => number): number => seen.reduce((sum, event) => sum + event.publishedMs - since(event), 0);
        const longestMs = Math.max(1_000, ...ticks.map((tickedMs, index) => tickedMs - (ticks[index - 1] ?? 0)));
        const lastMs = Math.max(ticks.at(-1) ?? 0, ...events.map(({ publishedMs }) => publishedMs)) - (ticks.at(-1) ?? 0) + 1_000;
        const offMs = seen.length * Math.max(longestMs, lastMs);
        // Of the time before its transaction ended, what reaches back beyond the tick is known.
        expect(counted.latencySumMs).toBeGreaterThanOrEqual(waited(({ committedMs }) => committedMs) - offMs);
        expect(counted.latencySumMs).toBeLessThanOrEqual(waited(({ createdMs }) => createdMs) + offMs);
      }),
    );
  });

  it.each([
    { name: 'come at once and are worked off', burst: 190, everyMs: 1_800, waits: (index: number) => 60 + index * 9, within: 0.05 },
    { name: 'are published within milliseconds', burst: 1, everyMs: 10, waits: () => 60, within: 0.2 },
    {
      name: 'wait shorter and longer',
      burst: 1,
      everyMs: 40,
      waits: (_: number, random: number) => -400 * Math.log(1 - random),
      within: 0.05,
    },
    {
      name: 'wait long where they are tried again',
      burst: 20,
      everyMs: 200,
      waits: (index: number) => (index === 0 ? 5_000 : 20),
      within: 0.15,
    },
    {
      name: 'leave in batches',
      burst: 1,
      everyMs: 37,
      waits: (index: number) => 2_000 - ((index * 37) % 2_000),
      within: 0.05,
    },
  ])('have their mean told, and how far off it may be, where they $name', ({ burst, everyMs, waits, within }) => {
    let inside = 0;
    for (let seed = 1; seed <= 10; seed += 1) {
      const random = randomOf(seed);
      const events = Array.from({ length: 1_900 }, (_, index): Event => {
        const createdMs = 1_000 + Math.floor(index / burst) * everyMs + (index % burst) * 2 + random() * 10;
        return { createdMs, committedMs: createdMs, publishedMs: createdMs + waits(index % burst, random()) };
      });
      const ticks = [random() * 809];
      while ((ticks.at(-1) ?? 0) < (events.at(-1)?.publishedMs ?? 0)) ticks.push((ticks.at(-1) ?? 0) + 809 * (0.75 + random() / 2));
      const meanMs = events.reduce((sum, { createdMs, publishedMs }) => sum + publishedMs - createdMs, 0) / events.length;
      const { counted } = play(events, ticks, { deletes: seed % 2 === 0, lateMs: 0 });
      expect(Math.abs(counted.latencySumMs / counted.published / meanMs - 1), `seed ${String(seed)}`).toBeLessThan(within);
      const errorMs = meanErrorMs(counted);
      inside += Math.abs(counted.latencySumMs / counted.published - meanMs) <= errorMs ? 1 : 0;
      // So small that it says something.
      expect(errorMs / meanMs, `seed ${String(seed)}`).toBeLessThan(5 * within);
    }
    expect(inside).toBeGreaterThanOrEqual(9);
  });

  it('never throw for what somebody else has remembered', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void departureMemory(value)));
  });
});

describe('events that nobody saw', () => {
  it('are those that went less those seen to go, by the smaller of deletes and of inserts less growth', () => {
    const told = tell([
      [100, 90, 10, 0],
      [120, 105, 12, 5],
      // Fifty inserts were rolled back.
      [180, 110, 17, 5],
      // Reset.
      [3, 2, 17, 0],
      [13, 12, 17, 4],
      // Thirty deletes were rolled back.
      [13, 42, 17, 0],
    ]);
    expect(told).toEqual([0, 10, 0, 0, 6, 0]);
  });

  it('are all counted where deletes are reported later than inserts for as long as there is traffic', () => {
    const busy = Array.from({ length: 300 }, (_, index): Told => [index * 100, Math.max(0, index - 2) * 100, 0, 0]);
    const idle = Array.from({ length: 5 }, (): Told => [29_900, 29_900, 0, 0]);
    expect(tell([...busy, ...idle]).reduce((sum, events) => sum + events, 0)).toBe(29_900);
  });

  it('are counted where sessions that have gone idle report their inserts long after others their deletes', () => {
    const idle = Array.from({ length: 50 }, (): Told => [0, 70, 0, 0]);
    expect(tell([[0, 0, 0, 0], ...idle, [70, 70, 0, 0]]).reduce((sum, events) => sum + events, 0)).toBe(70);
  });

  it('are not those of a broker that is away, whatever was rolled back before', () => {
    const rolledBack: Told[] = [[100, 90, 10, 0], ...Array.from({ length: 180 }, (): Told => [600, 90, 10, 0])];
    const away = Array.from({ length: 60 }, (_, index): Told => [600, 90 + index * 10, 10, 0]);
    expect(tell([...rolledBack, ...away]).reduce((sum, events) => sum + events, 0)).toBe(0);
    // Afterwards as before.
    expect(tell([...rolledBack, ...away, [620, 700, 10, 0]]).at(-1)).toBe(20);
  });
});

describe('what operators do', () => {
  const act = (record: string, counted: Act['counted'], id = '1'): Act => ({ record, id, counted });
  const open: DepartureRow = { id: '1', type: 'a', state: 'pending', createdMs: START - 769_000, publishedMs: null };
  const quiet = { ...LOOK, deletes: true };
  /** Ticks a second apart; what they counted. */
  function over(ticks: Partial<DepartureTick>[]): Record<string, Cell> {
    const sums: Record<string, Cell> = {};
    let memory: DepartureMemory | null = null;
    for (const [at, tick] of ticks.entries()) {
      const answer = countDepartures(memory, { ...quiet, atMs: START + at * 1_000, ...tick });
      memory = departureMemory(JSON.parse(JSON.stringify(answer.memory)));
      for (const cells of answer.additions.values()) for (const [series, cell] of cells) addCell((sums[series] ??= emptyCell()), cell);
    }
    return sums;
  }
  const counts = (inserted: number, deleted: number, depth = 2) => ({ counts: { inserted, updated: 0, deleted, depth } });

  it.each<[string, Partial<DepartureTick>[], number]>([
    [
      'a dead row that is archived and restored is no event, however late the counts are',
      [
        counts(9, 5),
        { ...counts(9, 5), acts: [act('r1', 'deleted')] },
        counts(9, 6),
        { ...counts(9, 6), acts: [act('r2', 'inserted')] },
        counts(10, 6),
      ],
      0,
    ],
    [
      'one that is sent again where it is hides none of those that nobody saw',
      [counts(9, 5), { ...counts(9, 5, 3), acts: [act('r1', 'depth')] }, { ...counts(13, 9, 3), acts: [act('r1', 'depth')] }],
      4,
    ],
    [
      'a record from before the first tick moves nothing',
      [
        { ...counts(9, 5), acts: [act('r1', 'deleted')] },
        { ...counts(11, 7), acts: [act('r1', 'deleted')] },
      ],
      2,
    ],
    [
      'a death where the row stays hides none of those that nobody saw',
      [
        { ...counts(9, 5, 1), rows: [open] },
        { ...counts(13, 9, 0), rows: [{ ...open, state: 'dead' }] },
      ],
      4,
    ],
    [
      'a death that moves the row to the dead letters hides none either',
      [
        { ...counts(9, 5, 1), deadStay: false, rows: [open] },
        { ...counts(13, 10, 0), deadStay: false, rows: [{ ...open, state: 'dead' }] },
      ],
      4,
    ],
    [
      'one that is sent again and dies between two ticks hides none',
      [
        { ...counts(9, 5, 0) },
        { ...counts(13, 9, 0), acts: [act('r1', 'depth')], rows: [{ ...open, state: 'dead' }] },
        { ...counts(15, 11, 0), acts: [act('r1', 'depth')] },
      ],
      6,
    ],
    [
      'a waiting one that came and was archived between two ticks is none',
      [counts(9, 5, 0), { ...counts(10, 6, 0), acts: [act('r1', null)], rows: [{ ...open, state: 'archived' }] }],
      0,
    ],
  ])('%s', (_name, ticks, published) => {
    expect(over(ticks)[ALL_TYPES]?.published ?? 0).toBe(published);
    expect(over(ticks)[ALL_TYPES]?.created ?? 0).toBe(published);
  });

  it.each<[string, Act['counted'], Partial<DepartureTick>]>([
    ['sent again where it was', 'depth', counts(9, 6)],
    ['restored', null, counts(10, 6)],
  ])('%s and out before a tick saw it waiting, it is published and not created now', (_name, counted, out) => {
    const sums = over([
      counts(9, 5),
      { ...out, acts: [act('r1', counted, '7')], gone: ['7'] },
      { ...out, acts: [act('r1', counted, '7')] },
    ]);
    expect(sums[ALL_TYPES]).toMatchObject({ published: 1, created: 0, latencySumMs: 0 });
  });

  it('takes what was sent again and is out before a tick saw it waiting from its row where that stays', () => {
    const out: DepartureRow = { ...open, id: '7', state: 'published', publishedMs: START + 700 };
    const stays = { deletes: false, recent: { fromMs: START, newestMs: null, newestKey: null } };
    const sent = { ...stays, acts: [act('r1', 'depth', '7')] };
    const sums = over([stays, { ...sent, rows: [out] }, sent]);
    expect(sums[ALL_TYPES]).toMatchObject({ published: 1, latency: new Map() });
    expect(sums[TOUCHED]).toMatchObject({ latency: new Map([[bucketOf(769_700), 1]]) });
    const restored: DepartureRow = { ...out, publishedMs: START - 3_600_000 };
    expect(over([stays, { ...sent, rows: [restored] }])).toEqual({});
  });

  it('leaves an event what it is, and its wait out of the mean: it is apart', () => {
    const other: DepartureRow = { ...open, id: '2', createdMs: START };
    const sums = over([
      { rows: [open, other] },
      { rows: [open, other], acts: [act('r1', null)] },
      { gone: ['1', '2'], ...counts(0, 0, 0) },
    ]);
    expect(sums[ALL_TYPES]).toMatchObject({ published: 2, created: 2, latencySumMs: 1_500 });
    expect(sums[TOUCHED]).toMatchObject({ published: 0, latency: new Map([[bucketOf(771_000), 1]]) });
  });
});

/** Inserted and deleted as the statistics say, waiting, and seen to go since. */
type Told = [inserted: number, deleted: number, depth: number, seenToGo: number];

function tell(ticks: Told[]): number[] {
  let flow: Flow | null = null;
  return ticks.map(([inserted, deleted, depth, seenToGo], at) => {
    const answer = countUnseen(flow, {
      atMs: START + at * 1_000,
      counts: { inserted, updated: 0, deleted, depth },
      seenToGo,
      deletes: true,
    });
    flow = answer.flow;
    return answer.events;
  });
}

/** Numbers from 0 to 1 that are the same every time. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
}
