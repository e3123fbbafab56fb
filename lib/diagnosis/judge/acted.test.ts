/** What an operator did is named, and no verdict takes it for the relay's doing. */
import { describe, expect, test } from 'vitest';
import type { Act } from '@/lib/live/reading';
import { ago, before, judge, reading, type Given } from '@/fixtures/readings';

const act = (secondsAgo: number, more: Partial<Act> = {}): Act => ({
  at: ago(secondsAgo),
  operation: 'requeue',
  actor: 'mina',
  count: 45,
  ...more,
});
const codes = (given: Given, previous = before(given)): string[] => judge(given, previous).evidence.map(({ code }) => code);

describe('the evidence', () => {
  test('names the last kind of action of the last quarter of an hour, with all that one operator did of it', () => {
    const acts = [act(20), act(25), act(30, { operation: 'archive' }), act(40, { actor: 'ben' }), act(1_000)];
    expect(judge({ acts }).evidence.find(({ code }) => code === 'operator_acted')).toEqual({
      code: 'operator_acted',
      values: { actor: 'mina', operation: 'requeue', count: 90, atLeast: 'no', actedAt: ago(20), ageMs: 20_000 },
    });
    expect(codes({ acts: [act(1_000)] })).not.toContain('operator_acted');
    expect(codes({ acts: [act(20, { count: 0 })] })).not.toContain('operator_acted');
    expect(codes({ acts: [act(1_000)], touched: { touched: 3, again: 3 } })).toContain('died_again');
  });

  test('says that there was more where the records are cut', () => {
    const told = judge({ acts: Array.from({ length: 100 }, () => act(20)), touched: { touched: 3, again: 3 } }).evidence;
    expect(told.map(({ code, values }) => [code, values.atLeast])).toEqual(
      expect.arrayContaining([
        ['operator_acted', 'yes'],
        ['died_again', 'yes'],
      ]),
    );
  });

  test('has it behind the first two facts of the worst verdict, and before those of others', () => {
    const stopped = { lastPublishedAt: ago(372), relay: { due: 9, firstDue: ago(370) }, dead: { recent: 4, first: ago(300) } };
    expect(codes({ ...stopped, acts: [act(20)], touched: { touched: 3, again: 3 } }).slice(1)).toEqual([
      'events_due',
      'operator_acted',
      'died_again',
      'newly_dead',
      'usual_rhythm',
    ]);
  });

  test('leaves it out while the outbox cannot be read', () => {
    const failure = { kind: 'unavailable', since: ago(5) } as const;
    expect(judge({ acts: [act(20)] }, [], { failure }).evidence.map(({ code }) => code)).not.toContain('operator_acted');
  });
});

describe('where no time of death is written', () => {
  const dead = (count: number, touched: number, acts: Act[] = []): Given => ({
    traits: { deathTime: false },
    dead: { dead: count },
    touched: { touched, again: 0 },
    acts,
  });

  test('what was restored is no new death, and what died since is', () => {
    const acts = [act(9, { operation: 'restore' }), act(700, { operation: 'archive' })];
    const previous = (now: Given) => [reading(dead(0, 0), 850), reading(dead(90, 0), 800), reading(dead(0, 0), 600), reading(now, 5)];
    const restored = dead(90, 90, acts);
    expect(judge(restored, previous(restored)).verdict).toBe('healthy');
    expect(judge(dead(94, 90, acts), previous(restored))).toMatchObject({
      verdict: 'dead_growing',
      evidence: [{ code: 'newly_dead', values: { count: 4 } }, {}, {}],
    });
  });
});

describe('while the relay tries what was sent again', () => {
  const silent = (seconds: number, acts: Act[] = []): Given => ({
    lastPublishedAt: ago(seconds),
    relay: { due: 9, firstDue: ago(seconds - 1) },
    acts,
  });

  test('it has stopped only after a minute of silence', () => {
    expect(judge(silent(25), before(silent(25))).verdict).toBe('relay_stopped');
    expect(judge(silent(25, [act(30)]), before(silent(25))).verdict).toBe('healthy');
    expect(judge(silent(70, [act(30)]), before(silent(70))).verdict).toBe('relay_stopped');
  });

  test('it stays stopped, if it had stopped before', () => {
    expect(judge(silent(40, [act(10)]), before(silent(40))).verdict).toBe('relay_stopped');
    expect(judge(silent(40, [act(10, { operation: 'archive', tidies: true })]), before(silent(40))).verdict).toBe('relay_stopped');
    // Archived with what waited just before the silence: nobody was told yet.
    expect(judge(silent(40, [act(35)]), before(silent(40))).verdict).toBe('healthy');
    expect(judge(silent(40, [act(35, { operation: 'archive', tidies: true })]), before(silent(40))).verdict).toBe('relay_stopped');
  });
});

describe('what changes between two readings', () => {
  const still = (relay: Record<string, unknown>, acts: Act[] = []): Given => ({
    reach: { published: 'cut' },
    lastPublishedAt: null,
    usualMs: null,
    relay: { recent: 0, due: 9, firstDue: ago(2_000), pending: 9, oldest: ago(2_000), tries: 20, ...relay },
    acts,
  });
  const looks = (...each: [number, Given][]) => each.map(([at, given]) => reading(given, at));

  test('an archive of waiting events is no movement of theirs, and a retry is no sign of life', () => {
    const acts = [act(100, { operation: 'archive', count: 4 })];
    const now = still({ pending: 5, oldest: ago(1_900), tries: 21 }, acts);
    const previous = looks([800, still({})], [400, still({})], [105, still({})], [95, now], [5, now]);
    expect(judge(now, previous)).toMatchObject({ verdict: 'relay_stopped', since: ago(800) });
    expect(judge({ ...now, acts: [] }, previous).verdict).toBe('healthy');
  });

  test('what the relay publishes meanwhile is', () => {
    const out = (frontier: string, more = {}): Given => ({
      ...still({ frontier, ...more }, [act(100)]),
      reach: {},
      traits: { publishedAt: false },
    });
    const moved = out(ago(2_050), { pending: 5 });
    const previous = looks([800, out(ago(2_100))], [105, out(ago(2_100))], [95, moved], [5, moved]);
    expect(judge(moved, previous).verdict).toBe('healthy');
  });

  test('a thousand events put back are no backlog that grows', () => {
    const queue = (waiting: number, acts: Act[] = []): Given => ({
      behind: { waiting, oldestFresh: ago(80) },
      relay: { firstDue: ago(80), due: 1 },
      acts,
    });
    const acts = [8, 16, 24].map((at) => act(at, { count: 200 }));
    const previous = looks([28, queue(5)], [22, queue(205)], [17, queue(300)], [12, queue(400)], [7, queue(500)], [3, queue(560)]);
    expect(judge(queue(600), previous).verdict).toBe('falling_behind');
    expect(judge(queue(600, acts), previous).verdict).toBe('healthy');
  });

  test('during a long row of interventions nothing is told by looks alone', () => {
    const waiting = (count: number, acts: Act[]): Given => ({
      traits: { createdAt: false, publishedAt: false },
      lastPublishedAt: null,
      usualMs: null,
      relay: { due: count, pending: count, first: ['a', 'b'], recent: 0, frontier: null, oldest: null },
      acts,
    });
    const acts = Array.from({ length: 60 }, (_, index) => act(10 + index * 10));
    const previous = looks([700, waiting(30, [])], [400, waiting(50, [])], [100, waiting(40, [])]);
    expect(judge(waiting(60, acts), previous).verdict).toBe('healthy');
    // Not if dead events alone are put aside, or somebody acts now and then.
    const tidied = acts.map((one) => ({ ...one, operation: 'archive', tidies: true }));
    const still = looks([800, waiting(30, [])], [400, waiting(60, [])]);
    expect(judge(waiting(60, tidied), still)).toMatchObject({ verdict: 'relay_stopped', since: ago(800) });
    expect(judge(waiting(60, [act(10), act(90), act(170)]), still)).toMatchObject({ verdict: 'relay_stopped', since: ago(800) });
    expect(judge(waiting(60, [act(600)]), looks([800, waiting(30, [])], [400, waiting(60, [])])).verdict).toBe('relay_stopped');
  });
});
