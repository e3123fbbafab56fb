import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { LANGUAGES } from '@/lib/messages/languages.gen';
import { diagnose } from './diagnose';
import { emptyCell } from '@/lib/rollup/cell';
import { bucketOf, bucketValue } from '@/lib/rollup/histogram';
import { noFigures } from '@/lib/figures/summarise';
import { ago, historyOf, judge, NOW, reading, type Given } from '@/fixtures/readings';

describe('relay stopped', () => {
  test('events due for longer than its rhythm, and nothing published since', () => {
    const found = judge({ lastPublishedAt: ago(372), relay: { due: 1_204, firstDue: ago(370) } });
    expect(found).toEqual({
      verdict: 'relay_stopped',
      since: ago(370),
      evidence: [
        { code: 'nothing_published', values: { lastPublishedAt: ago(372) } },
        { code: 'events_due', values: { count: 1_204, oldestAt: ago(370), ageMs: 370_000 } },
        { code: 'usual_rhythm', values: { p50Ms: bucketValue(bucketOf(400)), patienceMs: 60_000 } },
      ],
      holds: [{ verdict: 'relay_stopped', since: ago(370) }],
    });
  });

  test.each<[string, Given]>([
    ['a burst that began half a minute ago', { lastPublishedAt: ago(7_200), relay: { due: 5_000, firstDue: ago(30) } }],
    ['a quiet night: nothing published for hours, nothing due', { lastPublishedAt: ago(20_000), usualMs: null, relay: { recent: 0 } }],
    ['an old backlog that is being worked off', { lastPublishedAt: ago(1), relay: { due: 9_000, firstDue: ago(4_000) } }],
    ['only retrying events wait, or overtaken ones', { lastPublishedAt: ago(900), relay: { due: 0, pending: 4, oldest: ago(3_000) } }],
    ['a relay that works every five minutes', { lastPublishedAt: ago(290), usualMs: 150_000, relay: { due: 80, firstDue: ago(280) } }],
    [
      'the first event after an idle hour, two minutes old',
      { lastPublishedAt: ago(5_000), usualMs: null, relay: { due: 1, firstDue: ago(120), recent: 0 } },
    ],
    ['a clock ahead of ours', { lastPublishedAt: ago(-30), relay: { due: 5, firstDue: ago(900) } }],
  ])('not: %s', (_, given) => {
    expect(judge(given).verdict).toBe('healthy');
  });

  test('a rhythm of minutes is waited for twice, never longer than a quarter of an hour', () => {
    expect(judge({ lastPublishedAt: ago(700), usualMs: 150_000, relay: { due: 80, firstDue: ago(650) } }).verdict).toBe('relay_stopped');
    expect(judge({ lastPublishedAt: ago(1_000), usualMs: 86_400_000, relay: { due: 80, firstDue: ago(950) } }).verdict).toBe(
      'relay_stopped',
    );
  });

  test.each([
    ['nothing was ever published', true, 'never_published'],
    ['the table does not tell when: that is not never', false, 'publishing_time_unknown'],
  ])('%s', (_, nothingPublished, code) => {
    const relay = { due: 3, firstDue: ago(301), frontier: null, recent: 0 };
    const found = judge({ lastPublishedAt: null, nothingPublished, usualMs: null, relay });
    expect(found).toMatchObject({ verdict: 'relay_stopped', since: ago(301) });
    expect(found.evidence.map((fact) => fact.code)).toEqual([code, 'events_due', 'rhythm_unknown']);
  });

  test('healthy, with no last publishing: never, or not told', () => {
    const told = (why: 'no_events' | 'too_many_rows') => judge({}, [], { figures: noFigures('1h', ago(0), why) }).evidence[0]?.code;
    expect([told('no_events'), told('too_many_rows')]).toEqual(['never_published', 'publishing_time_unknown']);
  });

  describe('without a time of publishing', () => {
    const untimed = (relay: Record<string, unknown>): Given => ({
      traits: { publishedAt: false },
      lastPublishedAt: null,
      usualMs: null,
      relay,
    });
    const stuck = untimed({ due: 40, firstDue: ago(200), pending: 40, oldest: ago(200), frontier: ago(201) });

    test('from the table alone: everything since a moment waits', () => {
      expect(judge(stuck)).toMatchObject({ verdict: 'relay_stopped', since: ago(200) });
    });

    test('a poison row that blocks everything: the readings show that nothing moves', () => {
      const previous = [600, 400, 130].map((seconds) => reading(stuck, seconds));
      expect(judge(stuck, previous)).toMatchObject({ verdict: 'relay_stopped', since: ago(200) });
    });

    test.each([
      ['the oldest one has changed', { due: 40, firstDue: ago(300), pending: 40, oldest: ago(300), frontier: ago(301) }],
      ['fewer wait', { due: 60, firstDue: ago(200), pending: 60, oldest: ago(200), frontier: ago(201) }],
      ['a newer one is out', { due: 40, firstDue: ago(200), pending: 40, oldest: ago(200), frontier: ago(500) }],
    ])('not: %s since a minute ago', (_, relay) => {
      expect(judge(stuck, [reading(untimed(relay), 60)]).verdict).toBe('healthy');
    });

    test('patience follows the pace of the last hour: sixty an hour are missed after four minutes', () => {
      const slow = (seconds: number): Given =>
        untimed({ recent: 60, due: 4, firstDue: ago(seconds), pending: 4, oldest: ago(seconds), frontier: ago(seconds + 1) });
      expect(judge(slow(200)).verdict).toBe('healthy');
      expect(judge(slow(250)).evidence[2]).toEqual({ code: 'usual_pace', values: { count: 60, patienceMs: 240_000 } });
    });

    test('a movement long ago does not help', () => {
      const before = untimed({ due: 60, firstDue: ago(200), pending: 60, oldest: ago(200), frontier: ago(201) });
      const after = [400, 180].map((seconds) => reading(stuck, seconds));
      expect(judge(stuck, [reading(before, 500), ...after]).verdict).toBe('relay_stopped');
    });
  });

  test('published rows too many to read: only what was seen to stand still counts', () => {
    const given: Given = {
      reach: { published: 'cut' },
      lastPublishedAt: null,
      usualMs: null,
      relay: { recent: 0, pending: 9, oldest: ago(2_000), due: 9, firstDue: ago(2_000) },
    };
    expect(judge(given).verdict).toBe('healthy');
    expect(judge(given).evidence).toContainEqual({ code: 'too_many_rows', values: {} });
    expect(judge(given, [reading(given, 100)]).verdict).toBe('healthy');
    expect(judge(given, [reading(given, 400), reading(given, 100)])).toMatchObject({ verdict: 'relay_stopped', since: ago(400) });
  });
});

describe('relay stopped, without a time of creation', () => {
  const untimed = (relay: Record<string, unknown>, given: Given = {}): Given => ({
    lastPublishedAt: ago(93_700),
    usualMs: null,
    ...given,
    traits: { createdAt: false, dueTime: relay.firstDue !== undefined, ...given.traits },
    relay: { frontier: null, recent: 0, pending: relay.due, ...relay },
  });
  const unpublished = { traits: { publishedAt: false }, lastPublishedAt: null };
  const looks = (given: Given, ...seconds: number[]) => seconds.map((at) => reading(given, at));
  const due = untimed({ due: 4_249, firstDue: ago(93_600), firstNew: ago(93_600) });

  test('events are due for 26 hours, by their due time', () => {
    expect(judge(due, looks(due, 65, 40, 5))).toMatchObject({
      verdict: 'relay_stopped',
      since: ago(93_600),
      evidence: [
        { code: 'nothing_published', values: { lastPublishedAt: ago(93_700) } },
        { code: 'events_overdue', values: { count: 4_249, dueAt: ago(93_600), ageMs: 93_600_000 } },
        { code: 'rhythm_unknown', values: { patienceMs: 300_000 } },
      ],
    });
  });

  test('a due time read in the wrong zone is always long past: it has to be seen waiting', () => {
    expect(judge(due, looks(due, 40, 20)).verdict).toBe('healthy');
    // It came a minute ago, whatever it says of itself.
    const none = untimed({ due: 0 }, { traits: { dueTime: true } });
    const came = untimed({ due: 1, firstDue: ago(18_000), firstNew: ago(18_000) });
    expect(judge(came, [...looks(none, 800, 400, 70), ...looks(came, 60, 30)]).verdict).toBe('healthy');
    expect(judge(came, [...looks(none, 800, 400), ...looks(came, 330, 30)])).toMatchObject({ verdict: 'relay_stopped', since: ago(330) });
  });

  test('mid-backlog: none came due since the last one went out, but many wait', () => {
    const left = (count: number) => untimed({ due: count, firstDue: ago(93_600), firstNew: null }, { lastPublishedAt: ago(900) });
    expect(judge(left(40), looks(left(40), 600, 5))).toMatchObject({ verdict: 'relay_stopped', since: ago(900) });
    const few = judge(left(3), looks(left(3), 600, 5));
    expect(few.verdict).toBe('healthy');
    expect(few.evidence).toContainEqual({ code: 'standstill_unknown', values: { count: 3, sinceAt: ago(600) } });
  });

  test('by the key: all that waits has a higher one than what went out', () => {
    const behind = untimed({ due: 3, lead: 800, first: ['801', '802', '803'] }, unpublished);
    expect(judge(behind, looks(behind, 400, 200, 5))).toMatchObject({
      verdict: 'relay_stopped',
      since: ago(400),
      evidence: [{ code: 'waits_by_key', values: { count: 3, sinceAt: ago(400) } }, {}],
    });
    // A higher one went out meanwhile.
    const before = untimed({ due: 3, lead: 799, first: ['800', '801', '802'] }, unpublished);
    expect(judge(behind, [...looks(before, 400, 210), ...looks(behind, 200, 5)]).verdict).toBe('healthy');
  });

  test('by looks alone: more come and none leaves', () => {
    const waiting = (count: number, from = 0): Given =>
      untimed({ due: count, first: Array.from({ length: Math.min(16, count) }, (_, index) => `id-${from + index}`) }, unpublished);
    const more = [...looks(waiting(2), 500), ...looks(waiting(3), 400, 100), ...looks(waiting(9), 5)];
    expect(judge(waiting(9), more)).toMatchObject({
      verdict: 'relay_stopped',
      since: ago(400),
      evidence: [{ code: 'waits_by_looks', values: { count: 9, sinceAt: ago(400) } }, {}],
    });
    // As many as ever: some may be left over.
    expect(judge(waiting(2), looks(waiting(2), 800, 400, 5)).verdict).toBe('healthy');
    expect(judge(waiting(20), looks(waiting(20), 800, 400, 5)).verdict).toBe('relay_stopped');
    // Others than before: the relay works, though the queue grows.
    expect(judge(waiting(30, 4), [...looks(waiting(20), 800, 400), ...looks(waiting(30, 4), 5)]).verdict).toBe('healthy');
    // The collector saw events leave in the last minute.
    expect(judge(waiting(20), looks(waiting(20), 800, 400, 5), { history: historyOf(400) }).verdict).toBe('healthy');
  });

  test('patience follows the longest pause of the last hour, never longer than looks are remembered', () => {
    const waiting = untimed({ due: 20, first: ['a'] }, unpublished);
    const { minutes } = historyOf(400);
    const quiet = { ...emptyCell(), minutes: 1 };
    const history = (pause: number, since: number) => ({
      minutes: [...minutes.slice(0, 20), ...Array.from({ length: pause }, () => quiet), ...minutes.slice(0, 5), ...Array.from({ length: since }, () => quiet)],
      typesPublished: new Set<string>(),
    }); // prettier-ignore
    expect(judge(waiting, looks(waiting, 200, 5), { history: history(0, 3) }).verdict).toBe('relay_stopped');
    expect(judge(waiting, looks(waiting, 350, 5), { history: history(4, 5) }).verdict).toBe('healthy');
    expect(judge(waiting, looks(waiting, 370, 5), { history: history(4, 6) }).verdict).toBe('relay_stopped');
    expect(judge(waiting, looks(waiting, 610, 5), { history: history(30, 10) }).verdict).toBe('relay_stopped');
  });
});

describe('stuck processing', () => {
  test('says how many, since when and of which type', () => {
    expect(judge({ stuck: { stuck: 12, oldest: ago(900), type: 'order_complete' } })).toEqual({
      verdict: 'stuck_processing',
      since: ago(600),
      evidence: [
        { code: 'stuck_events', values: { count: 12, stuckAfterMs: 300_000 } },
        { code: 'oldest_claim', values: { claimedAt: ago(900), ageMs: 900_000 } },
        { code: 'stuck_type', values: { type: 'order_complete' } },
      ],
      holds: [{ verdict: 'stuck_processing', since: ago(600) }],
    });
  });

  test('is not judged where no time of claim is kept, and that is said', () => {
    const now = reading({ traits: { claimTime: false } });
    const figures = noFigures('1h', now.asOf, 'no_events');
    const found = diagnose({
      reading: now,
      figures: { ...figures, depth: { ...figures.depth, processing: { count: 3, known: 'exact' } } },
      failure: null,
      previous: [],
      history: null,
      now: NOW,
    });
    expect(found.verdict).toBe('healthy');
    expect(found.evidence).toContainEqual({ code: 'claim_time_unknown', values: { count: 3 } });
  });
});

describe('dead growing', () => {
  const cause = { type: 'email.receipt', error: 'mailbox full', count: 4, of: 5 };

  test('events died lately', () => {
    expect(judge({ dead: { recent: 5, first: ago(420), dead: 31, cause } })).toEqual({
      verdict: 'dead_growing',
      since: ago(420),
      evidence: [
        { code: 'newly_dead', values: { count: 5, withinMs: 900_000, atLeast: 'no' } },
        { code: 'dead_cause', values: { count: 4, of: 5, type: 'email.receipt', error: 'mailbox full' } },
        { code: 'dead_total', values: { count: 31 } },
      ],
      holds: [{ verdict: 'dead_growing', since: ago(420) }],
    });
  });

  test('where not every dead row was read there may be more of them', () => {
    const cut = { ...reading({ dead: { recent: 400, first: ago(420), dead: 3_000, cause } }), deadDetailed: false };
    expect(judge({}, [], { reading: cut }).evidence[0]).toEqual({
      code: 'newly_dead',
      values: { count: 400, withinMs: 900_000, atLeast: 'yes' },
    });
  });

  test('where who died lately may not be among those read, counts are compared, without those that were put back or may have been', () => {
    const given = (dead: number, unread = 0): Given => ({
      dead: { dead, recent: 0, newest: null },
      touched: { touched: 0, again: 0, unread },
    });
    const cut = (now: Given, more = {}) => ({ ...reading(now), deadDetailed: false, ...more });
    const previous = [reading(given(600), 100), reading(given(600), 20), reading(given(680), 5)];
    const of = (now: ReturnType<typeof cut>) => judge({}, previous, { reading: now });
    expect(of(cut(given(700)))).toMatchObject({ verdict: 'dead_growing', since: ago(20), evidence: [{ values: { count: 100 } }, {}] });
    expect(of(cut(given(700, 100))).verdict).toBe('healthy');
    expect(of(cut(given(600))).verdict).toBe('healthy');
    expect(of(reading(given(700))).verdict).toBe('healthy');
    // Then the counts are cut short as well.
    expect(of(cut({ ...given(700), reach: { dead: 'cut' } })).verdict).toBe('healthy');
  });

  test('old deaths are an old story', () => {
    expect(judge({ dead: { recent: 0, first: null, dead: 31, cause: null } }).verdict).toBe('healthy');
  });

  test('without a time of death, the count is compared with the last quarter of an hour', () => {
    const given = (dead: number): Given => ({ traits: { deathTime: false }, dead: { dead, cause } });
    const previous = [reading(given(2), 1_200), reading(given(7), 800), reading(given(7), 300), reading(given(8), 100)];
    expect(judge(given(9), previous)).toMatchObject({
      verdict: 'dead_growing',
      since: ago(300),
      evidence: [{ code: 'newly_dead', values: { count: 2, withinMs: 300_000, atLeast: 'no' } }, {}, {}],
    });
    expect(judge(given(7), previous).verdict).toBe('healthy');
    expect(judge(given(9)).verdict).toBe('healthy');
  });

  test('a table without dead events never has them growing', () => {
    expect(judge({ reach: { dead: 'absent' }, dead: { recent: 1, first: ago(1), dead: 1 } }).verdict).toBe('healthy');
  });
});

test('a start that is entered holds until an earlier one is found, and one of the same moment changes no letter', () => {
  const now = reading({ lastPublishedAt: ago(372), relay: { due: 9, firstDue: ago(370) } });
  const given = { reading: now, figures: null, failure: null, previous: [], history: null, now: NOW };
  const since = (entered: string): string | null => diagnose(given, new Map([['relay_stopped', entered]])).since;
  expect(since(ago(900))).toBe(ago(900));
  expect(since(ago(10))).toBe(ago(370));
  expect(ago(370)).toMatch(/\.000Z$/);
  expect(since(ago(370).replace('.000Z', 'Z'))).toBe(ago(370));
});

describe('worst first', () => {
  const everything: Given = {
    lastPublishedAt: ago(500),
    relay: { due: 9, firstDue: ago(400) },
    stuck: { stuck: 1, oldest: ago(900) },
    dead: { recent: 1, first: ago(60), dead: 1 },
  };

  test('a source that is away comes before what its last reading said', () => {
    const failure = { kind: 'unavailable', since: ago(45) } as const;
    expect(judge(everything, [], { failure })).toEqual({
      verdict: 'source_down',
      since: ago(45),
      evidence: [
        { code: 'source_unreachable', values: { sinceAt: ago(45) } },
        { code: 'last_seen', values: { lastSeenAt: ago(0) } },
      ],
      holds: [{ verdict: 'source_down', since: ago(45) }],
    });
    expect(judge(everything, [], { failure, reading: null, figures: null }).evidence[1]).toEqual({ code: 'never_seen', values: {} });
  });

  test('all that hold are answered, each with its own start', () => {
    expect(judge(everything).holds).toEqual([
      { verdict: 'relay_stopped', since: ago(400) },
      { verdict: 'dead_growing', since: ago(60) },
      { verdict: 'stuck_processing', since: ago(600) },
    ]);
    expect(judge({}).holds).toEqual([{ verdict: 'healthy', since: null }]);
  });

  test.each(['unavailable', 'slow', 'missing'] as const)('what an old reading shows does not hold now: %s', (kind) => {
    const { verdict, holds, evidence } = judge(everything, [], { failure: { kind, since: ago(45) } });
    expect(holds).toEqual([{ verdict, since: ago(45) }]);
    expect(evidence).toHaveLength(2);
  });

  test('the other verdicts that hold give one fact each, after two of the worst', () => {
    expect(judge(everything).evidence.map((fact) => fact.code)).toEqual([
      'nothing_published',
      'events_due',
      'newly_dead',
      'stuck_events',
      'usual_rhythm',
    ]);
  });

  test('stopped, then dead, then stuck, then healthy', () => {
    expect(judge(everything).verdict).toBe('relay_stopped');
    expect(judge({ ...everything, relay: {} }).verdict).toBe('dead_growing');
    expect(judge({ ...everything, relay: {}, dead: {} }).verdict).toBe('stuck_processing');
    expect(judge({ ...everything, relay: {}, stuck: {}, dead: {} }).verdict).toBe('healthy');
  });
});

test('every fact has its sentence in every language, and every sentence its fact', () => {
  const sources = ['verdicts', 'evidence'].flatMap((room) => {
    const folder = path.join(import.meta.dirname, '..', room);
    return readdirSync(folder).flatMap((file) => (file.includes('.test.') ? [] : readFileSync(path.join(folder, file), 'utf8')));
  });
  const codes = new Set(sources.flatMap((text) => [...text.matchAll(/'((?:source|[a-z]+)_[a-z_]+)'/g)].map((match) => match[1])));
  for (const { code: language } of LANGUAGES) {
    const messages = JSON.parse(readFileSync(path.join(import.meta.dirname, `../../messages/${language}.json`), 'utf8')) as {
      evidence: Record<string, string>;
    };
    const said = Object.keys(messages.evidence);
    expect(
      said.filter((code) => !codes.has(code)),
      language,
    ).toEqual([]);
    expect(
      [...sources.join('\n').matchAll(/(?:code: |factIfKnown\()'(\w+)'/g)]
        .map((match) => match[1] ?? '')
        .filter((code) => !said.includes(code)),
      language,
    ).toEqual([]);
  }
});
