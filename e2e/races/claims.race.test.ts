/** The judge of claims must be able to say no: each rule on evidence made to break it. */
import { describe, expect, it } from 'vitest';
import type { InterventionResult } from '@/lib/shared/model';
import { CLAIM_RULES, type Claims, type Request } from './claims';
import { forgedChange } from './forged';
import type { StoredRecord } from './history';

const DEAD = { id: 'a', status: 'dead', tries: '3', payload: '{}' };
const DEAD_AGAIN = { ...DEAD, tries: '4' };
const PENDING = { ...DEAD, status: 'pending', tries: '0' };
const inserted = forgedChange(1, { op: 'INSERT', after: DEAD });
const requeued = forgedChange(2, { before: DEAD, after: PENDING, ours: true, intervention: 'i' });
const answer: InterventionResult = {
  interventionId: 'i',
  outbox: 'sample',
  operation: 'requeue',
  reason: 'race',
  actor: 'anna',
  at: '2026-01-01T00:00:02Z',
  outcome: 'applied',
  changed: ['a'],
  skipped: [],
  undo: null,
};
const request = (over: Partial<Request> = {}): Request => ({
  operation: 'requeue',
  events: [{ id: 'a', version: 'v', state: 'dead', seq: '1' }],
  answers: [answer],
  ...over,
});
const record: StoredRecord & { warned: boolean } = {
  intervention_id: 'i',
  operation: 'requeue',
  event_id: 'a',
  code: null,
  before: { id: 'a', status: 'dead', tries: '3' },
  after: { id: 'a', status: 'pending', tries: '0' },
  at: new Date(Date.UTC(2026, 0, 1, 0, 0, 2)),
  warned: false,
};
const claims = (over: Partial<Claims> = {}): Claims => ({
  inserted: ['a'],
  history: [inserted, requeued],
  records: [record],
  requests: [request()],
  isPublished: () => false,
  publishedIsGone: false,
  asked: [],
  exactly: 'those values',
  stable: ['id', 'payload'],
  stateOf: (image) => image.status ?? null,
  covers: (_operation, place, state) => (place === 'main' && (state === null || state === 'dead') ? 'exact' : null),
  tooYoung: () => false,
  ...over,
});

/** The row was dead, went out, and is dead again: what the operator saw is not what is there. */
const cameBack = [
  inserted,
  forgedChange(2, { before: DEAD, after: PENDING }),
  forgedChange(3, { before: PENDING, after: DEAD_AGAIN }),
  forgedChange(4, { before: DEAD_AGAIN, after: PENDING, ours: true, intervention: 'i' }),
];
const cameBackAlike = [
  ...cameBack.slice(0, 2),
  forgedChange(3, { before: PENDING, after: DEAD }),
  forgedChange(4, { before: DEAD, after: PENDING, ours: true, intervention: 'i' }),
];
const archived = [forgedChange(2, { op: 'INSERT', place: 'archive', after: DEAD, ours: true, intervention: 'i' })];

describe('the judge of claims', () => {
  it('has nothing to say about a clean race', () => {
    for (const [rule, judge] of Object.entries(CLAIM_RULES)) expect(judge(claims()), rule).toEqual([]);
  });

  const broken: [keyof typeof CLAIM_RULES, string, Partial<Claims>][] = [
    ['answeredInFull', 'an event without an answer', { requests: [request({ answers: [{ ...answer, changed: [] }] })] }],
    [
      'answeredInFull',
      'another answer under the same key',
      { requests: [request({ answers: [answer, { ...answer, outcome: 'partly' }] })] },
    ],
    ['answeredAsRecorded', 'an answer without a record', { records: [] }],
    ['answeredAsRecorded', 'a record that nobody was told of', { requests: [] }],
    ['changedOnce', 'a row that was written twice', { history: [inserted, requeued, { ...requeued, seq: '3' }] }],
    ['changedOnce', 'a row that was copied and left where it was', { history: [inserted, ...archived] }],
    ['fromWhatWasSeen', 'a row that was dead, out, and dead again', { history: cameBack }],
    ['fromWhatWasSeen', 'the same where only the write can tell', { history: cameBackAlike, exactly: 'that write' }],
    ['fromWhatWasSeen', 'an operation that is not for such a row', { covers: () => null }],
    [
      'fromWhatWasSeen',
      'another content than was seen',
      {
        history: [inserted, forgedChange(2, { before: DEAD, after: { ...DEAD, payload: '[]' } }), { ...requeued, seq: '3' }],
        covers: () => 'stable',
      },
    ],
    ['fromWhatWasSeen', 'a change that nobody asked for', { requests: [request({ events: [] })] }],
    ['oldEnough', 'a claim that was young', { tooYoung: (operation, row) => operation === 'requeue' && row.status === 'dead' }],
    ['recordedAsItWas', 'a record of another row', { records: [{ ...record, before: { status: 'pending' } }] }],
    ['unbroken', 'a write behind the back of the triggers', { history: [inserted, { ...requeued, before: DEAD_AGAIN }] }],
  ];
  it.each(broken)('%s catches %s', (rule, _what, over) => {
    expect(CLAIM_RULES[rule](claims(over))).toHaveLength(1);
  });

  it('takes a row that came back with the same values for what was seen, where rows have nothing else to tell by', () => {
    expect(CLAIM_RULES.fromWhatWasSeen(claims({ history: cameBackAlike }))).toEqual([]);
  });
});
