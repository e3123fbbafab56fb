import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Act, Past } from '@/lib/live/reading';
import type { RecentHistory } from '../evidence/circumstances';
import { emptyCell } from '@/lib/rollup/cell';
import { historyOf, judge, NOW, reading, type Given } from '@/fixtures/readings';

/** Ten minutes of healthy traffic in steps of a tenth of a second, read every five seconds. */
const MINUTES = 10;
const STEP_MS = 100;
const READ_EVERY_MS = 5_000;

interface Event {
  id: number;
  uuid: string;
  created: number;
  /** When its transaction committed: a relay and a reading see it from then on. */
  visible: number;
  type: string;
  key: string;
  /** Attempts that will fail. */
  fails: number;
  attempts: number;
  attempted: number | null;
  published: number | null;
  taken: number;
  written: number;
}

/** What a relay of a shape does, and what its table tells of it. */
interface Shape {
  everyMs: number;
  batch: number;
  publishMs: number;
  /** Writes down attempts, claims, the time of publishing; locks the rows it takes. */
  counts: boolean;
  claims: boolean;
  timed: boolean;
  locks: boolean;
  /** Takes the next batch without a rest while batches are full. */
  drains?: boolean;
  /** What its rows have in place of a time of creation. */
  untimed?: 'due_time' | 'number' | 'uuid';
  /** Deletes what it published, and has jobs for tomorrow. */
  deletes?: boolean;
  /** Events of its largest burst, and the failures of an event of the type that often fails. */
  burst: number;
  fails: number;
}

const SHAPES: Record<string, Shape> = {
  'escrow-status': { everyMs: 1_000, batch: 20, publishMs: 15, counts: true, claims: true, timed: true, locks: false, burst: 250, fails: 3 },
  'worker-status': { everyMs: 1_000, batch: 10, publishMs: 15, counts: false, claims: true, timed: true, locks: false, drains: true, burst: 150, fails: 3 },
  'published-at': { everyMs: 300, batch: 100, publishMs: 18, counts: true, claims: false, timed: true, locks: true, burst: 1_200, fails: 9 },
  'courier-status': { everyMs: 500, batch: 10, publishMs: 15, counts: false, claims: false, timed: false, locks: true, burst: 200, fails: 0 },
  'listen-notify': { everyMs: 100, batch: 500, publishMs: 0, counts: true, claims: false, timed: true, locks: true, burst: 600, fails: 0 },
  'rows go': { everyMs: 1_000, batch: 50, publishMs: 15, counts: true, claims: false, timed: false, locks: false, deletes: true, burst: 400, fails: 3 },
  'due-time': { everyMs: 1_000, batch: 50, publishMs: 15, counts: true, claims: false, timed: true, locks: true, untimed: 'due_time', burst: 400, fails: 3 },
  'due-time in rounds': { everyMs: 240_000, batch: 5_000, publishMs: 1, counts: false, claims: false, timed: false, locks: false, untimed: 'due_time', burst: 400, fails: 0 },
  numbered: { everyMs: 500, batch: 20, publishMs: 15, counts: false, claims: false, timed: false, locks: false, untimed: 'number', burst: 400, fails: 0 },
  'numbered in rounds': { everyMs: 90_000, batch: 500, publishMs: 5, counts: false, claims: false, timed: true, locks: true, untimed: 'number', burst: 400, fails: 0 },
  uuid: { everyMs: 500, batch: 20, publishMs: 15, counts: false, claims: false, timed: false, locks: false, untimed: 'uuid', burst: 900, fails: 0 },
  'uuid in rounds': { everyMs: 200_000, batch: 5_000, publishMs: 1, counts: false, claims: false, timed: false, locks: false, untimed: 'uuid', burst: 400, fails: 0 },
}; // prettier-ignore

const TYPES = ['order.created', 'order.paid', 'order.shipped', 'order.invoiced'];
const iso = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());
const least = (values: number[]): number | null => (values.length === 0 ? null : values.reduce((a, b) => Math.min(a, b)));
const most = (values: number[]): number | null => (values.length === 0 ? null : values.reduce((a, b) => Math.max(a, b)));

function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Said {
  second: number;
  verdict: string;
  evidence: unknown;
}

/** Every reading of ten minutes and more, judged with those before it; answers what was said that is not healthy. */
function play(
  shape: Shape,
  seed: number,
  { offAfterMs = Infinity, minutes = MINUTES, leftOver = 0, perSecond = 0.6, actsEveryMs = Infinity } = {},
): Said[] {
  const random = randomOf(seed);
  const start = NOW - minutes * 60_000;
  const events: Event[] = [];
  let transaction = 1_000;
  const collected = seed % 2 === 0;
  const outByMinute = new Map<number, number>();
  let relayFree = start;
  let nextBurst = start + random() * 60_000;
  let burst = { until: 0, perStep: 0, key: '', together: 0 };
  let nextRead = start + READ_EVERY_MS;
  const previous: Past[] = [];
  const wrong: Said[] = [];

  const create = (now: number, key: string | null): void => {
    // One in ten transactions is held for up to six seconds.
    const held = random() < 0.1 ? random() * 6_000 : 0;
    const type = TYPES[Math.floor(random() * TYPES.length)] ?? '';
    const fails = type === 'order.invoiced' && random() < 0.5 ? shape.fails : 0;
    transaction += 1;
    const id = (events.at(-1)?.id ?? 0) + 1;
    // Drawn apart: shapes with times of creation are tried with the same events.
    events.push({ id, uuid: randomOf(seed + id)().toString(36), created: now, visible: now + held, type, key: key ?? `order-${Math.floor(random() * 1e9)}`, fails, attempts: 0, attempted: null, published: null, taken: 0, written: transaction }); // prettier-ignore
  };

  for (let n = 0; n < leftOver; n += 1) create(start, null);
  for (let now = start; now < NOW; now += STEP_MS) {
    if (random() < (perSecond * STEP_MS) / 1_000) create(now, null);
    if (now >= nextBurst) {
      const size = shape.burst * (0.2 + 0.8 * random());
      const lasts = random() < 0.5 ? STEP_MS : random() * 10_000;
      burst = { until: now + lasts, perStep: Math.ceil((size * STEP_MS) / Math.max(lasts, STEP_MS)), key: 'import-1', together: random() < 0.3 ? 1 : 0 }; // prettier-ignore
      nextBurst = now + 45_000 + random() * 60_000;
    }
    if (now < burst.until) for (let n = 0; n < burst.perStep; n += 1) create(now, burst.together === 1 ? burst.key : null);
    if (now >= relayFree && now - start < offAfterMs) {
      const batch = events
        .filter(({ id, published, visible }) => id > leftOver && published === null && visible <= now)
        .slice(0, shape.batch);
      transaction += 1;
      batch.forEach((event, index) => {
        const at = now + (index + 1) * shape.publishMs;
        if (shape.locks) event.taken = transaction;
        if (shape.claims) event.attempted = now;
        event.attempts += 1;
        if (event.attempts > event.fails) {
          event.published = at;
          const minute = Math.floor(at / 60_000);
          outByMinute.set(minute, (outByMinute.get(minute) ?? 0) + 1);
        }
        if (event.published === null && shape.counts) event.written = transaction + 1;
      });
      transaction += 1;
      const goesOn = shape.drains === true && batch.length === shape.batch && batch.some((event) => event.published !== null);
      relayFree = now + (goesOn ? 0 : shape.everyMs) + batch.length * shape.publishMs;
    }
    if (now < nextRead) continue;
    nextRead = now + READ_EVERY_MS + random() * 400;
    const acts: Act[] = [];
    for (let at = start + actsEveryMs; at <= now; at += actsEveryMs)
      acts.unshift({ at: new Date(at).toISOString(), operation: 'retry', actor: 'anna', count: 200 });
    const given = { ...figuresOf(shape, events, now), acts };
    const history = !collected ? null : shape.untimed === undefined ? historyOf(400, TYPES) : pastOf(shape, start, now, outByMinute);
    const found = judge(given, previous, { reading: reading(given, (NOW - now) / 1_000), now, history });
    if (found.verdict !== 'healthy') wrong.push({ second: (now - start) / 1_000, verdict: found.verdict, evidence: found.evidence });
    previous.push(reading(given, (NOW - now) / 1_000));
    // What is out for long is forgotten, as the console forgets it.
    if (events.length > 4_000)
      events.splice(
        0,
        events.findIndex((event) => event.published === null || event.published > now - 60_000),
      );
  }
  return wrong;
}

/** An hour of minutes up to now, as a collector that lags by ten seconds counts departures: before the start, as the relay usually works. */
function pastOf({ everyMs }: Shape, start: number, now: number, outByMinute: ReadonlyMap<number, number>): RecentHistory {
  const round = Math.ceil(everyMs / 60_000);
  const last = Math.floor((now - 10_000) / 60_000);
  const published = (minute: number): number =>
    outByMinute.get(minute) ?? (minute * 60_000 < start - 60_000 && minute % round === 0 ? 30 : 0);
  const cellOf = (minute: number) => ({ ...emptyCell(), minutes: 1, published: published(minute) });
  return { minutes: Array.from({ length: 60 }, (_, index) => cellOf(last - 59 + index)), typesPublished: new Set(TYPES) };
}

/** What the figures' SQL answers of these rows. */
function figuresOf(shape: Shape, events: readonly Event[], now: number): Given {
  return shape.untimed === undefined ? timedFigures(shape, events, now) : untimedFigures(shape, events, now);
}

function untimedFigures(shape: Shape, events: readonly Event[], now: number): Given {
  const visible = events.filter((event) => event.visible <= now);
  const out = visible.filter((event) => event.published !== null && event.published <= now);
  const waiting = visible.filter((event) => event.published === null || event.published > now);
  const failing = waiting.filter((event) => event.attempts > 0 && event.published === null && shape.counts);
  const fresh = waiting.filter((event) => !failing.includes(event));
  const hasTime = shape.untimed === 'due_time';
  const lead = shape.untimed === 'number' ? most(out.map(({ id }) => id)) : null;
  const due = fresh.filter(({ id }) => lead === null || id > lead);
  const lastOut = most(out.map((event) => event.published ?? 0));
  const sorted = [...fresh].sort((a, b) => (shape.untimed === 'number' ? a.id - b.id : a.uuid < b.uuid ? -1 : 1));
  const touch = most(waiting.map((event) => Math.max(event.taken, failing.includes(event) ? event.written : 0)));
  const dueTimes = hasTime ? due.map(({ created }) => created) : [];
  return {
    traits: { createdAt: false, dueTime: hasTime, publishedAt: shape.timed, claimTime: false, attempts: shape.counts },
    lastPublishedAt: shape.timed ? iso(lastOut) : null,
    nothingPublished: shape.timed && lastOut === null,
    usualMs: null,
    relay: {
      due: due.length, firstDue: iso(least(dueTimes)), firstNew: shape.timed ? iso(least(dueTimes.filter((at) => at > (lastOut ?? 0)))) : null, frontier: null, lead,
      first: sorted.slice(0, 16).map(({ uuid }) => uuid), recent: 0, pending: fresh.length, oldest: null, failing: failing.length, touch, touchedAfter: null, headTouch: null, headTouchedAfter: null,
    },
    broker: { count: 0, first: null, last: null },
    poison: { most: shape.counts ? [...failing].sort((a, b) => b.attempts - a.attempts).slice(0, 2).map((event) => ({ ...event, at: null, error: null })) : null },
    handler: TYPES.map((type) => ({ type, count: fresh.filter((event) => event.type === type).length, first: hasTime ? iso(least(fresh.filter((event) => event.type === type).map(({ created }) => created))) : null })),
    behind: { waiting: waiting.length, oldestFresh: hasTime ? iso(least(fresh.map(({ created }) => created))) : null },
  }; // prettier-ignore
}

function timedFigures(shape: Shape, events: readonly Event[], now: number): Given {
  const visible = events.filter((event) => event.visible <= now);
  const { deletes = false } = shape;
  const out = visible.filter((event) => !deletes && event.published !== null && event.published <= now);
  const waiting = visible.filter((event) => event.published === null || event.published > now);
  const failing = waiting.filter((event) => event.attempts > 0 && event.published === null && (shape.counts || shape.claims));
  const tomorrow = deletes ? [NOW - 7_200_000, NOW - 7_100_000] : [];
  const fresh = waiting.filter((event) => !failing.includes(event));
  const frontier = most(out.map(({ created }) => created));
  const due = fresh.filter(({ created }) => frontier === null || created > frontier);
  const firstDue = least(due.map(({ created }) => created));
  const lastOut = most(out.map((event) => event.published ?? 0));
  const touch = most(waiting.map((event) => Math.max(event.taken, failing.includes(event) ? event.written : 0)));
  const head = [...waiting].sort((a, b) => a.created - b.created)[0];
  const headTouch = head === undefined ? null : Math.max(head.taken, head.written);
  const before = (number: number | null): string | null =>
    number === null ? null : iso(most(waiting.filter(({ written }) => written <= number).map(({ created }) => created)));
  const failed = failing.filter((event) => lastOut === null || (event.attempted ?? event.created) > lastOut);
  const taken = waiting.filter(
    ({ attempted, published }) => published !== null && attempted !== null && (lastOut === null || attempted > lastOut),
  );
  const retried = failing
    .map(({ created, attempted }) => (attempted === null ? created : 2 * attempted - created))
    .filter((at) => at > (lastOut ?? 0));
  const lately = failing.filter((event) => (event.attempted ?? event.created) >= now - 10_000);
  const endless = shape.counts ? [] : failing.filter(({ created, attempted }) => (attempted ?? 0) > created + 10_000);
  const keys = new Map<string, Event[]>();
  const passed = waiting.filter((event) => failing.includes(event) || (frontier !== null && event.created < frontier));
  for (const event of passed) keys.set(event.key, [...(keys.get(event.key) ?? []), event]);
  const [top] = [...keys].sort(([, a], [, b]) => b.length - a.length);
  const topHead = top?.[1].reduce((a, b) => (b.created < a.created ? b : a));
  return {
    traits: { publishedAt: shape.timed, publishedState: !deletes, claimTime: shape.claims, attempts: shape.counts, dueTime: deletes },
    reach: { published: deletes ? 'absent' : 'complete' },
    lastPublishedAt: shape.timed ? iso(lastOut) : null,
    usualMs: shape.timed ? 500 : null,
    relay: {
      due: due.length, firstDue: iso(firstDue), frontier: iso(frontier), recent: deletes ? 0 : 1_500, pending: fresh.length + tomorrow.length,
      again: retried.length, firstAgain: iso(least(retried)), tries: shape.counts ? waiting.reduce((sum, { attempts }) => sum + attempts, 0) : null,
      oldest: iso(least([...tomorrow, ...fresh.map(({ created }) => created)])), failing: failing.length, touch, touchedAfter: before(touch), headTouch, headTouchedAfter: before(headTouch),
    },
    broker: {
      count: failed.length, taken: shape.claims ? taken.length : 0, types: new Set(failed.map(({ type }) => type)).size, first: iso(least(failed.map(({ created }) => created))),
      last: iso(most(failed.map((event) => event.attempted ?? event.created))), lately: lately.length, latelyTypes: new Set(lately.map(({ type }) => type)).size,
      latelyPublished: out.filter((event) => (event.published ?? 0) > now - 10_000).length,
    },
    poison: {
      head: head === undefined ? null : { at: iso(head.created), type: head.type, error: null, attempts: head.attempts },
      most: shape.counts ? [...failing].sort((a, b) => b.attempts - a.attempts).slice(0, 2).map((event) => ({ ...event, at: iso(event.created), error: null })) : null,
      endless: endless.length, endlessFirst: iso(least(endless.map(({ created }) => created))),
    },
    starved: {
      ahead: firstDue === null ? 0 : failing.filter(({ created }) => created <= firstDue).length,
      freshOut: iso(most(out.filter(({ fails }) => !shape.counts || fails === 0).map((event) => event.published ?? 0))),
    },
    handler: TYPES.map((type) => ({ type, of: fresh.filter((event) => event.type === type) }))
      .filter(({ of }) => of.length > 0)
      .map(({ type, of }) => ({ type, count: of.length, first: iso(least(of.map(({ created }) => created))) })),
    key: top === undefined || topHead === undefined ? null
      : { key: top[0], count: top[1].length, waiting: passed.length, out: iso(most(out.filter((event) => event.key === top[0]).map((event) => event.published ?? 0))), others: iso(least(fresh.filter((event) => event.key !== top[0]).map(({ created }) => created))), head: { first: iso(topHead.created), failing: failing.includes(topHead), type: topHead.type, error: null, attempts: topHead.attempts } },
    behind: { waiting: waiting.length, oldestFresh: iso(least(fresh.map(({ created }) => created))) },
  }; // prettier-ignore
}

describe('ten healthy minutes with bursts, held transactions and a type that often fails first', () => {
  test.each(Object.entries(SHAPES))('%s never gets a verdict', (_, shape) => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
        expect(play(shape, seed)).toEqual([]);
      }),
      { numRuns: 12, seed: 7, endOnFailure: true },
    );
  });
});

test.each(Object.entries(SHAPES))('%s: operators who act all the time hide no movement', (_, shape) => {
  for (const actsEveryMs of [4_000, 70_000]) for (const seed of [11, 12, 13]) expect(play(shape, seed, { actsEveryMs })).toEqual([]);
});

describe.each(Object.entries(SHAPES).filter(([, { untimed }]) => untimed !== undefined))('%s: a relay that works', (_, shape) => {
  test('a few rows that it never takes are no standstill, in a quiet hour neither', () => {
    for (const seed of [1, 2, 3, 4]) expect(play(shape, seed, { leftOver: 4, perSecond: 0.004, minutes: 30 })).toEqual([]);
  });

  test('and does not keep up has not stopped', () => {
    const slow = { ...shape, batch: 10, everyMs: Math.min(shape.everyMs, 5_000) };
    for (const seed of [1, 2, 3])
      expect(play(slow, seed, { perSecond: 9 }).filter(({ verdict }) => verdict === 'relay_stopped')).toEqual([]);
  });
});

describe('a relay that ends after ten minutes while events come', () => {
  const offAfterMs = MINUTES * 60_000;
  test.each(Object.entries(SHAPES))('%s is said to have stopped, in time and for good', (_, shape) => {
    // In rounds of four minutes, the fifth without one is the first to miss it.
    const latest = (offAfterMs + Math.max(300_000, 2 * shape.everyMs) + 30_000) / 1_000;
    for (const seed of [2, 3]) {
      const said = play(shape, seed, { offAfterMs, minutes: 2 * MINUTES + 4 });
      const stopped = said.filter(({ verdict }) => verdict === 'relay_stopped');
      const first = stopped[0]?.second ?? Infinity;
      expect(first, `seed ${seed}`).toBeGreaterThan(offAfterMs / 1_000);
      expect(first, `seed ${seed}`).toBeLessThan(latest);
      // From then on, as often as it is read.
      expect(stopped.length).toBeGreaterThan(((2 * MINUTES + 4) * 60 - first) / 5.5);
    }
  });
});
