import { describe, expect, it } from 'vitest';
import type { Held, Verdict } from '@/lib/shared/figures/verdicts';
import type { VerdictChanges } from '@/lib/store/verdict-spans';
import { Incidents } from './incidents';

const T0 = Date.parse('2026-11-23T03:00:00.000Z');
const at = (second: number): string => new Date(T0 + second * 1_000).toISOString();
const held = (...verdicts: Verdict[]): Held[] => verdicts.map((verdict) => ({ verdict, since: null }));
const NOTHING: VerdictChanges = { begun: [], ended: [] };

interface Begun {
  open?: Partial<Record<Verdict, string>>;
  /** Seconds that the session is old at T0. */
  old?: number;
  seenAt?: string | null;
}

/** What is entered at each second of an owner's session. */
function session({ open = {}, old = 600, seenAt = null }: Begun = {}) {
  const spans = new Map(Object.entries(open) as [Verdict, string][]);
  const incidents = new Incidents(spans, seenAt, T0 - old * 1_000);
  return (second: number, holds: Held[], blind = false): VerdictChanges => {
    const changes = incidents.changes({ at: at(second), holds, blind }, T0 + second * 1_000);
    for (const { verdict } of changes.ended) spans.delete(verdict);
    for (const { verdict, at: from } of changes.begun) spans.set(verdict, from);
    return changes;
  };
}

describe('a verdict that holds', () => {
  it('begins when its finding says, or when it was seen first; that is entered once', () => {
    const enter = session();
    const holds = [{ verdict: 'stuck_processing' as const, since: at(-90) }, ...held('dead_growing')];
    const begun = [
      { verdict: 'stuck_processing', at: at(-90) },
      { verdict: 'dead_growing', at: at(0) },
    ];
    expect(enter(0, holds)).toEqual({ begun, ended: [] });
    expect(enter(5, holds)).toEqual(NOTHING);
  });

  it('goes on when it is absent for forty seconds, and ends when its absence began where that is a minute', () => {
    const enter = session({ open: { dead_growing: at(-300) } });
    for (const second of [0, 20, 40]) expect(enter(second, [])).toEqual(NOTHING);
    expect(enter(41, held('dead_growing'))).toEqual(NOTHING);
    for (const second of [50, 80, 109]) expect(enter(second, [])).toEqual(NOTHING);
    expect(enter(110, [])).toEqual({ begun: [], ended: [{ verdict: 'dead_growing', at: at(50) }] });
    expect(enter(120, held('dead_growing'))).toEqual({ begun: [{ verdict: 'dead_growing', at: at(120) }], ended: [] });
  });

  it('ends nobody else: after a retry a poison row holds beside what held before', () => {
    const enter = session({ open: { relay_stopped: at(-300) } });
    expect(enter(0, held('poison_row', 'relay_stopped'))).toEqual({ begun: [{ verdict: 'poison_row', at: at(0) }], ended: [] });
  });
});

describe('a session that has just begun', () => {
  it('ends nothing for five minutes: some rules need earlier readings', () => {
    const enter = session({ open: { falling_behind: at(-300) }, old: 0, seenAt: at(-30) });
    for (const second of [0, 120, 299]) expect(enter(second, [])).toEqual(NOTHING);
    expect(enter(300, [])).toEqual({ begun: [], ended: [{ verdict: 'falling_behind', at: at(0) }] });
  });

  const since = (second: number): Held[] => [{ verdict: 'dead_growing', since: at(second) }];
  const open = { dead_growing: at(-90_000) };

  it('goes on with what held before, over a restart', () => {
    expect(session({ open, old: 0, seenAt: at(-90) })(0, since(-2))).toEqual(NOTHING);
    expect(session({ open, old: 0, seenAt: at(-7_200) })(0, since(-80_000))).toEqual(NOTHING);
    expect(session({ open, old: 0, seenAt: at(-7_200) })(0, held('dead_growing'))).toEqual(NOTHING);
  });

  it('takes for another incident what began while nobody collected for long', () => {
    const another = { begun: [{ verdict: 'dead_growing', at: at(-40) }], ended: [{ verdict: 'dead_growing', at: at(-7_200) }] };
    expect(session({ open, old: 0, seenAt: at(-7_200) })(0, since(-40))).toEqual(another);
  });
});

it('while the outbox cannot be read nothing ends but what is known to', () => {
  const enter = session({ open: { relay_stopped: at(-300) } });
  expect(enter(0, held('source_down'), true)).toEqual({ begun: [{ verdict: 'source_down', at: at(0) }], ended: [] });
  for (const second of [60, 600]) expect(enter(second, held('source_down'), true)).toEqual(NOTHING);
  for (const second of [605, 664]) expect(enter(second, held('relay_stopped'))).toEqual(NOTHING);
  expect(enter(665, held('relay_stopped'))).toEqual({ begun: [], ended: [{ verdict: 'source_down', at: at(605) }] });
});
