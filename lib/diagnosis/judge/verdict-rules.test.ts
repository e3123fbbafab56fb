import { describe, expect, test } from 'vitest';
import { VERDICT_TONE, VERDICTS } from '@/lib/shared/figures/verdicts';
import type { Reading } from '@/lib/live/reading';
import { emptyCell } from '@/lib/rollup/cell';
import { ago, before, historyOf, judge, reading, type Given } from '@/fixtures/readings';
import { VERDICT_RULES } from './verdict-registry.gen';

const codes = (found: { evidence: { code: string }[] }): string[] => found.evidence.map(({ code }) => code);

test('every verdict has one rule and a tone, and the healthy one is the last resort', () => {
  expect(VERDICT_RULES.map(({ verdict }) => verdict).sort()).toEqual([...VERDICTS].sort());
  expect(Object.keys(VERDICT_TONE).sort()).toEqual([...VERDICTS].sort());
  expect(VERDICTS.at(-1)).toBe('healthy');
});

describe('relay stopped', () => {
  const still = (seconds: number, more: Record<string, unknown> = {}): Given => ({
    lastPublishedAt: ago(seconds + 1),
    relay: { due: 9, firstDue: ago(seconds), ...more },
  });

  test('an event that an earlier reading saw due: a quarter of a minute is enough', () => {
    expect(judge(still(16), before(still(16))).verdict).toBe('relay_stopped');
    expect(judge(still(14), before(still(14))).verdict).toBe('healthy');
  });

  test('an event nobody saw before may have been committed late: a minute', () => {
    expect(judge(still(59)).verdict).toBe('healthy');
    expect(judge(still(61)).verdict).toBe('relay_stopped');
    // Other events were due then.
    expect(judge(still(40), before(still(200), [40, 20])).verdict).toBe('healthy');
  });

  test('the pace without latencies is of the minutes that were watched: sixty in four of them are missed after a quarter of a minute', () => {
    const minutes = Array.from({ length: 4 }, () => ({ ...emptyCell(), minutes: 1, published: 15 }));
    const history = { minutes, typesPublished: new Set<string>() };
    expect(judge(still(17), before(still(17)), { history }).verdict).toBe('relay_stopped');
  });

  test('the usual pace comes from the history where there is one, minute by minute', () => {
    const slow = historyOf(20_000);
    expect(judge(still(79), before(still(79)), { history: slow }).verdict).toBe('healthy');
    expect(judge(still(81), before(still(81)), { history: slow }).verdict).toBe('relay_stopped');
    // A backlog that was worked off for twenty of sixty minutes is no pace.
    const quick = historyOf(400);
    const mixed = { ...quick, minutes: [...quick.minutes.slice(0, 40), ...slow.minutes.slice(0, 20)] };
    expect(judge(still(20), before(still(20)), { history: mixed }).verdict).toBe('relay_stopped');
  });

  test.each<[string, Record<string, unknown>]>([
    ['it claims', { tried: ago(3) }],
    ['a row was locked after others were written', { touch: 120, touchedAfter: ago(3) }],
  ])('not when it lives: %s', (_, sign) => {
    expect(judge(still(300, sign), before(still(300, sign))).verdict).not.toBe('relay_stopped');
  });

  test('a sign of life can be that a lock changed between two readings', () => {
    const alive = [20, 15, 10, 5].map((seconds, index) => reading(still(300, { touch: 100 + index }), seconds));
    expect(judge(still(300, { touch: 110 }), alive).verdict).toBe('poison_row');
    expect(judge(still(300, { touch: 100 }), before(still(300, { touch: 100 }))).verdict).toBe('relay_stopped');
  });
});

test('what went out is no sign that a waiting event is tried', () => {
  const out = (frontier: string): Given => ({ lastPublishedAt: ago(17), relay: { due: 9, firstDue: ago(16), frontier } });
  const seen = [reading(out(ago(40)), 20), reading(out(ago(18)), 13), reading(out(ago(18)), 8), reading(out(ago(18)), 3)];
  expect(judge(out(ago(18)), seen).verdict).toBe('relay_stopped');
});

describe('poison row', () => {
  const head = { at: ago(40), type: 'order.paid', error: null, attempts: null };
  const blocked = (more: Record<string, unknown> = {}): Given => ({
    traits: { publishedAt: false, attempts: false, claimTime: false },
    lastPublishedAt: null,
    usualMs: null,
    relay: {
      due: 12, firstDue: ago(40), pending: 12, oldest: ago(40), frontier: ago(41), recent: 800,
      touch: 900, touchedAfter: ago(1), headTouchedAfter: ago(1), failing: 0, ...more,
    },
    poison: { head },
  }); // prettier-ignore

  test('the relay takes the first event again and again and nothing goes out', () => {
    const found = judge(blocked(), before(blocked()));
    expect(found).toMatchObject({
      verdict: 'poison_row',
      since: ago(40),
      evidence: [
        { code: 'blocking_row', values: { headAt: ago(40), ageMs: 40_000, type: 'order.paid', others: null, atLeast: 'no' } },
        { code: 'events_behind', values: { count: 12 } },
        { code: 'taken_again' },
      ],
    });
  });

  test.each<[string, Record<string, unknown>, Partial<Reading['reach']>, Record<string, unknown>]>([
    ['those that are due but itself', { due: true, twins: 1 }, {}, { others: 11, atLeast: 'no' }],
    ['all that are due, where it was tried and so is not counted', { due: false, twins: 1 }, {}, { others: 12 }],
    ['at least those that were read', { due: true, twins: 1 }, { waiting: 'cut' }, { others: 11, atLeast: 'yes' }],
    ['not said where another row was created with it', { due: true, twins: 2 }, {}, { others: null }],
  ])('how many others it blocks: %s', (_, row, reach, values) => {
    const given = { ...blocked(), poison: { head: { ...head, ...row } }, reach };
    expect(judge(given, before(given)).evidence[0]).toMatchObject({ code: 'blocking_row', values });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['nobody takes it', { touch: 0, touchedAfter: null, headTouchedAfter: null }, 'relay_stopped'],
    ['it was taken long ago, then no more', { touchedAfter: ago(39), headTouchedAfter: ago(39) }, 'relay_stopped'],
    ['trying it may have been its last act', { firstDue: ago(20), touchedAfter: ago(14), headTouchedAfter: ago(14) }, 'healthy'],
    ['it was', { firstDue: ago(25), touchedAfter: ago(19), headTouchedAfter: ago(19) }, 'relay_stopped'],
    ['it has waited for a moment only', { firstDue: ago(9), oldest: ago(9) }, 'healthy'],
  ])('not: %s', (_, relay, verdict) => {
    expect(judge(blocked(relay), before(blocked(relay))).verdict).toBe(verdict);
  });

  test('a relay that is seen to try needs no known pace', () => {
    const unknown = blocked({ recent: 0 });
    expect(judge(unknown, before(unknown)).verdict).toBe('poison_row');
    const untried = blocked({ recent: 0, touch: 0, touchedAfter: null, headTouchedAfter: null });
    expect(judge(untried, before(untried)).verdict).toBe('healthy');
  });

  test.each<[string, number, Partial<Reading['reach']>, string]>([
    ['its counter rises: the relay tries', 8, {}, 'poison_row'],
    ['its counter stands still: nobody tries', 7, {}, 'relay_stopped'],
    ['not all that waits was read: other rows may have come', 8, { waiting: 'cut' }, 'relay_stopped'],
  ])('where transactions leave no trace on a row: %s', (_, tries, reach, verdict) => {
    const given = (attempts: number): Given => ({
      ...blocked({ touch: null, touchedAfter: null, headTouch: null, headTouchedAfter: null, tries: attempts }),
      poison: { head: { ...head, attempts } },
      reach,
    });
    const found = judge(given(tries), before(given(7)));
    expect(found.verdict).toBe(verdict);
    if (verdict === 'poison_row') expect(found.evidence).toContainEqual({ code: 'taken_again', values: { takenAt: ago(0) } });
  });

  test('one with far more attempts than any other, and still rising', () => {
    const most = (attempts: number, next: number): Given => ({ poison: { most: [{ ...head, attempts, error: 'bad' }, { ...head, at: ago(9), attempts: next, error: 'x' }] } }); // prettier-ignore
    expect(judge(most(40, 4), before(most(35, 4)))).toMatchObject({
      verdict: 'poison_row',
      evidence: [{ code: 'endless_rows' }, { values: { count: 40 } }, { values: { error: 'bad' } }],
    });
    expect(judge(most(40, 4), before(most(40, 4))).verdict).toBe('healthy');
    expect(judge(most(40, 20), before(most(35, 20))).verdict).toBe('healthy');
    expect(judge(most(19, 1), before(most(18, 1))).verdict).toBe('healthy');
  });

  test('without a counter: one that is taken for long and always comes back', () => {
    const again: Given = { poison: { endless: 2, endlessFirst: ago(50) } };
    expect(judge(again, before(again))).toMatchObject({
      verdict: 'poison_row',
      since: ago(50),
      evidence: [{ values: { count: 2, ageMs: 50_000 } }],
    });
    // In a backlog the first attempt comes late.
    expect(judge(again, before({ poison: { endless: 2, endlessFirst: ago(55) } })).verdict).toBe('healthy');
    expect(judge(again).verdict).toBe('healthy');
    const queue: Given = { ...again, behind: { oldestFresh: ago(6) } };
    expect(judge(queue, before(again)).verdict).toBe('healthy');
  });
});

describe('starved', () => {
  const hungry = (more: Given = {}): Given => ({
    lastPublishedAt: ago(3),
    ...more,
    relay: { due: 30, firstDue: ago(25), pending: 30, oldest: ago(25), failing: 120, touch: 9, touchedAfter: ago(1), ...more.relay },
    starved: { ahead: 120, since: ago(300), freshOut: ago(26), type: 'import', error: 'leader gone', ...more.starved },
  });

  test('failing events are taken first each time, and none that never failed goes out', () => {
    expect(judge(hungry(), before(hungry()))).toMatchObject({
      verdict: 'starved',
      since: ago(25),
      evidence: [
        { code: 'failing_ahead', values: { count: 120 } },
        { code: 'fresh_behind', values: { count: 30, ageMs: 25_000 } },
        { code: 'failing_cause', values: { type: 'import', error: 'leader gone' } },
      ],
    });
  });

  test.each<[string, Given, string]>([
    ['a fresh event went out a moment ago: they only share the batches', hungry({ starved: { freshOut: ago(4) } }), 'healthy'],
    ['three failing events fill no batch', hungry({ starved: { ahead: 3 } }), 'healthy'],
    ['nothing fresh waits', hungry({ relay: { due: 0, firstDue: null } }), 'healthy'],
    ['the relay does not live', hungry({ lastPublishedAt: ago(30), relay: { touch: 0, touchedAfter: null } }), 'relay_stopped'],
  ])('not: %s', (_, given, verdict) => {
    expect(judge(given, before(given)).verdict).toBe(verdict);
  });

  test('not while the first that never failed is another one each time', () => {
    const works = (firstDue: string): Given => hungry({ relay: { firstDue }, starved: { freshOut: null } });
    expect(
      judge(
        works(ago(300)),
        [20, 15, 10, 5].map((at) => reading(works(ago(300 + at)), at)),
      ).verdict,
    ).toBe('healthy');
    expect(judge(works(ago(300)), before(works(ago(300)))).verdict).toBe('starved');
  });

  test('what went out at its first attempt between two readings is remembered', () => {
    const seen = [...before(hungry(), [20, 15]), reading(hungry({ starved: { freshOut: ago(11) } }), 10), reading(hungry(), 5)];
    expect(judge(hungry({ starved: { freshOut: null } }), seen).verdict).toBe('healthy');
  });
});

describe('no handler', () => {
  const flows = { relay: { frontier: ago(2) } };
  const waits = (type: string, seconds: number, count = 3) => ({ type, count, first: ago(seconds) });
  const history = historyOf(400, ['order.created', 'order.paid']);

  test('a type of which nothing ever went out waits while later events of others go out', () => {
    expect(judge({ ...flows, handler: [waits('sms.sent', 25), waits('fax.sent', 22, 9)] }, [], { history })).toMatchObject({
      verdict: 'no_handler',
      since: ago(25),
      evidence: [
        { code: 'type_never_out', values: { type: 'fax.sent', count: 9 } },
        { code: 'others_go_out' },
        { code: 'more_types', values: { count: 1 } },
      ],
    });
  });

  test.each<[string, Given, Parameters<typeof judge>[2]]>([
    ['it has been published before', { ...flows, handler: [waits('order.paid', 900)] }, { history }],
    ['it is new, and waits for a moment', { ...flows, handler: [waits('sms.sent', 14)] }, { history }],
    ['nothing later went out', { relay: { frontier: ago(30) }, handler: [waits('sms.sent', 25)] }, { history }],
    [
      'events of a known type wait before it: its turn has not come',
      { ...flows, handler: [waits('order.paid', 30), waits('sms.sent', 25)] },
      { history },
    ],
    ['what was published is not known', { ...flows, handler: [waits('sms.sent', 900)] }, { history: null }],
  ])('not: %s', (_, given, more) => {
    expect(judge(given, [], more).verdict).toBe('healthy');
  });

  test('an event left over long ago does not make it a queue', () => {
    expect(judge({ ...flows, handler: [waits('order.paid', 3_000), waits('sms.sent', 25)] }, [], { history }).verdict).toBe('no_handler');
  });
});

describe('blocked on a key', () => {
  const first = { first: ago(40), failing: true, type: 'email.receipt', error: 'no such user', attempts: 1 };
  const key = (more: Record<string, unknown> = {}, head: Record<string, unknown> = {}): Given => ({
    relay: { frontier: ago(1) },
    key: { key: 'order-7', count: 8, waiting: 9, others: null, out: null, ...more, head: { ...first, ...head } },
  });

  test('most of what waits is behind the first event of one key', () => {
    expect(judge(key(), before(key()))).toMatchObject({
      verdict: 'blocked_on_key',
      since: ago(40),
      evidence: [
        { code: 'key_behind', values: { key: 'order-7', count: 7, waiting: 9 } },
        { code: 'key_first', values: { ageMs: 40_000, type: 'email.receipt', attempts: 1 } },
        { code: 'row_error', values: { error: 'no such user' } },
      ],
    });
  });

  test.each<[string, Given, Given]>([
    ['a burst of one key that is worked off: its first event is another one', key(), key({}, { first: ago(45) })],
    ['fewer of it wait than before', key(), key({ count: 20, waiting: 21 })],
    ['four events are no block', key({ count: 4, waiting: 4 }), key({ count: 4, waiting: 4 })],
    ['others wait too', key({ waiting: 17 }), key({ waiting: 17 })],
    ['it has waited for a moment', key({}, { first: ago(14) }), key({}, { first: ago(14) })],
    ['fresh events of other keys wait as well: there is a queue', key({ others: ago(11) }), key()],
    ['another event with the same time of creation is first now', key({}, { attempts: 1 }), key({}, { attempts: 3 })],
    ['its other events go out', key({ out: ago(14) }), key({ out: ago(14) })],
    ['no other key passes', { ...key(), relay: { frontier: ago(41) } }, { ...key(), relay: { frontier: ago(41) } }],
  ])('not: %s', (_, now, past) => {
    expect(judge(now, before(past)).verdict).toBe('healthy');
  });

  test('where the relay keeps the order, two events and a small share are enough', () => {
    const ordered: Given = { ...key({ count: 2, waiting: 50 }), traits: { keepsOrder: true } };
    expect(judge(ordered, before(ordered)).verdict).toBe('blocked_on_key');
    expect(judge({ ...ordered, traits: {} }, before(ordered)).verdict).toBe('healthy');
  });

  test('at the first reading only one that failed and has waited for a minute', () => {
    expect(judge(key({}, { first: ago(61) })).verdict).toBe('blocked_on_key');
    expect(judge(key({}, { first: ago(59) })).verdict).toBe('healthy');
    expect(judge(key({}, { first: ago(61), failing: false })).verdict).toBe('healthy');
  });
});

describe('cannot see', () => {
  test.each([
    ['slow', 'source_slow'],
    ['no_privilege', 'no_privilege'],
    ['missing', 'table_missing'],
    ['outdated', 'server_outdated'],
    ['unusable', 'source_unusable'],
    ['no_store', 'store_away'],
  ] as const)('the database answers, but: %s', (kind, code) => {
    expect(judge({}, [], { failure: { kind, since: ago(9) } })).toMatchObject({
      verdict: 'cannot_see',
      since: ago(9),
      evidence: [{ code }, { code: 'last_seen' }],
    });
    expect(codes(judge({}, [], { failure: { kind, since: ago(9) }, reading: null, figures: null }))).toEqual([code, 'never_seen']);
  });

  test('row-level security hides rows: since the reading that first said so', () => {
    const previous = [reading({}, 15), reading({ hidden: true }, 10), reading({ hidden: true }, 5)];
    expect(judge({ hidden: true }, previous)).toMatchObject({
      verdict: 'cannot_see',
      since: ago(10),
      evidence: [{ code: 'rows_hidden' }, {}],
    });
    expect(judge({ hidden: true }).since).toBeNull();
  });
});

describe('dead growing', () => {
  const died = (...seconds: number[]): Given => ({ dead: { recent: seconds.length, first: ago(800), dead: 40, newest: seconds.map(ago) } }); // prettier-ignore

  test.each<[string, Given, string]>([
    ['deaths every ten seconds, the last a moment ago', died(8, 18, 28, 38), 'dead_growing'],
    ['the last of them is three quarters of a minute ago', died(46, 56, 66, 76), 'healthy'],
    ['deaths every two minutes are not over after one', died(100, 220, 340, 460), 'dead_growing'],
    ['but after three times their gap', died(370, 490, 610, 730), 'healthy'],
    ['what died of another trouble minutes ago is no gap', died(50, 400, 401, 402), 'healthy'],
    ['one death', died(40), 'dead_growing'],
    ['one death a minute ago', died(60), 'healthy'],
  ])('%s', (_, given, verdict) => {
    expect(judge(given).verdict).toBe(verdict);
  });
});

test('a slot without an event is no rhythm', () => {
  const history = { ...historyOf(400), minutes: [emptyCell()] };
  const given: Given = { lastPublishedAt: ago(301), usualMs: null, relay: { due: 1, firstDue: ago(290), recent: 0 } };
  expect(judge(given, [], { history }).verdict).toBe('healthy');
});

test('a healthy outbox whose attempts mostly failed in the last hour says so', () => {
  const cell = (published: number, failures: number) => ({ ...emptyCell(), minutes: 1, published, failures });
  const told = (published: number, failures: number, attempts = true) =>
    judge({ traits: { attempts } }, [], {
      history: { minutes: [cell(published, 0), cell(0, failures)], typesPublished: new Set<string>() },
    });
  expect(told(22, 78)).toMatchObject({ verdict: 'healthy' });
  expect(told(22, 78).evidence).toContainEqual({ code: 'attempts_fail', values: { share: 0.78 } });
  for (const one of [told(95, 5), told(0, 0), told(1, 2), told(22, 78, false)])
    expect(one.evidence.map(({ code }) => code)).not.toContain('attempts_fail');
});
