/** The judge must be able to say no: each rule on evidence made to break it. */
import { describe, expect, it } from 'vitest';
import { forgedChange } from './forged';
import type { Change } from './history';
import { encodeVersion } from '@/lib/outbox/rows/version';
import type { State } from '@/lib/shared/states';
import { RULES, type Asked, type Evidence } from './judge';

const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));
const change = (over: Partial<Change>): Change => forgedChange(1, { at: at(0), ...over });
const inserted = change({ op: 'INSERT', after: { status: 'pending' } });
const published = change({ seq: '2', after: { status: 'processed' }, at: at(10) });
const delivery = (seconds: number) => ({
  outbox: 'tested',
  eventId: 'a',
  dedupKey: null,
  at: at(seconds).toISOString(),
  startedAt: at(seconds).toISOString(),
});
const record = { intervention_id: 'i', operation: 'retry', event_id: 'a', code: null, warned: false, at: at(5) };
const asked = (state: State, touched: number, intervention = 'i'): Asked => ({
  intervention,
  event: 'a',
  version: encodeVersion({ place: 'main', state, exact: '1', stable: '0'.repeat(32), touched }),
});
const ours = (intervention: string, before: string, after: string): Change =>
  change({ ours: true, intervention, before: { status: before }, after: { status: after } });
const evidence = (over: Partial<Evidence>): Evidence => ({
  inserted: ['a'],
  history: [inserted, published],
  deliveries: [delivery(9)],
  records: [],
  isPublished: (row) => row.status === 'processed',
  stateOf: (row) => row.status ?? null,
  asked: [asked('pending', 0)],
  publishedIsGone: false,
  namedFault: 'none',
  ...over,
});

describe('the judge of a race', () => {
  it('has nothing to say about a clean one', () => {
    for (const judge of Object.values(RULES)) expect(judge(evidence({}))).toEqual([]);
  });

  const broken: [keyof typeof RULES, Partial<Evidence>][] = [
    ['inOnePlace', { history: [inserted, change({ op: 'DELETE', before: {} })] }],
    ['inOnePlace', { history: [inserted, change({ op: 'INSERT', place: 'archive', after: {} })] }],
    [
      'publishedUntouched',
      { history: [inserted, published, change({ ours: true, before: { status: 'processed' }, after: { status: 'pending' } })] },
    ],
    ['recordedExactly', { history: [inserted, change({ ours: true, after: { status: 'pending' } })] }],
    ['recordedExactly', { records: [record] }],
    ['recordedExactly', { history: [inserted, change({ ours: true, intervention: 'i' })], records: [record, record] }],
    // Another intervention than the one whose record it is; each of the two is missed by the other.
    [
      'recordedExactly',
      { history: [inserted, published, change({ ours: true, intervention: 'j' })], records: [{ ...record, code: 'locked' }] },
    ],
    ['inOnePlace', { publishedIsGone: true, history: [inserted, change({ op: 'DELETE', ours: true, before: {} })] }],
    // Seen dead, and retrying by then; seen before somebody else changed it; by nobody.
    ['asItsVersionSays', { history: [inserted, ours('i', 'retrying', 'pending')], asked: [asked('dead', 0)] }],
    [
      'asItsVersionSays',
      { history: [inserted, ours('i', 'dead', 'pending'), ours('j', 'dead', 'pending')], asked: [asked('dead', 0), asked('dead', 0, 'j')] },
    ],
    ['asItsVersionSays', { history: [inserted, ours('i', 'dead', 'pending')], asked: [] }],
    ['nothingAfterPublished', { deliveries: [delivery(9), delivery(12)] }],
    ['extrasExplained', { deliveries: [delivery(8), delivery(9)], records: [record] }],
    ['nothingLost', { deliveries: [] }],
  ];
  it.each(broken)('%s catches what breaks it', (rule, over) => {
    expect(RULES[rule](evidence(over))).toHaveLength(1);
  });

  it('takes what a relay that deletes has taken away for published', () => {
    const gone = [inserted, change({ op: 'DELETE', before: {} })];
    expect(RULES.inOnePlace(evidence({ publishedIsGone: true, history: gone }))).toEqual([]);
  });

  it('accepts an extra delivery that a recorded warning explains', () => {
    expect(RULES.extrasExplained(evidence({ deliveries: [delivery(8), delivery(9)], records: [{ ...record, warned: true }] }))).toEqual([]);
  });
});
