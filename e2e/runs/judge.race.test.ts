/** The judge of runs must be able to say no: each rule on evidence made to break it. */
import { describe, expect, it } from 'vitest';
import { encodeVersion } from '@/lib/outbox/rows/version';
import { forgedChange } from '../races/forged';
import type { RunEvidence, SeenBatch, SeenRun } from './evidence';
import { judgeRun, RUN_RULES } from './judge';

const version = encodeVersion({ place: 'main', state: 'dead', exact: '1', stable: '0'.repeat(32), touched: 0 });
const planned = (id: string, aggregate: string | null = null) => ({ id, version, amount: null, currency: null, aggregate });
const born = (id: string, seq: number) => forgedChange(seq, { op: 'INSERT', event_id: id, after: { status: 'dead' } });
const sent = (id: string, seq: number, intervention: string) =>
  forgedChange(seq, { event_id: id, ours: true, intervention, before: { status: 'dead' }, after: { status: 'pending' } });
const out = (id: string, seq: number) => forgedChange(seq, { event_id: id, before: { status: 'pending' }, after: { status: 'processed' } });

/** Two events of one aggregate, sent one after the other, and a third that was left. */
const batches: SeenBatch[] = [
  { n: 1, positions: [0], interventionId: 'one', outcomes: ['changed'], fates: ['published'] },
  { n: 2, positions: [1, 2], interventionId: 'two', outcomes: ['changed', 'wrong_state'], fates: ['published', 'notLooked'] },
];
const counts: SeenRun['counts'] = {
  ...{ requested: 3, changed: 2, conflicted: 1, locked: 0, failed: 0, unknown: 0, remaining: 0 },
  fates: { published: 2, gone: 0, failedAgain: 0, waiting: 0, notKnown: 0 },
};
const run: SeenRun = {
  ...{ id: 'r', state: 'done', ended: true, followed: true, counts, batches },
  events: [planned('a', 'x'), planned('b', 'x'), planned('c')],
  plan: { hash: 'h', maker: 'anna', whole: true },
  approval: { state: 'approved', hash: 'h', by: 'ben' },
};
const recorded: RunEvidence['recorded'] = [
  { id: 'one', key: 'run/r/1', outcome: 'applied', lines: [{ event_id: 'a', code: null }] },
  {
    ...{ id: 'two', key: 'run/r/2', outcome: 'partly' },
    lines: [
      { event_id: 'b', code: null },
      { event_id: 'c', code: 'wrong_state' },
    ],
  },
];
const lines = recorded.flatMap(({ id, lines: own }) => own.map((line) => ({ ...line, intervention: id })));
const clean: RunEvidence = {
  ...{ inserted: ['a', 'b', 'c'], recorded, runs: [run], keys: [], listed: [], publishedIsGone: false },
  history: [born('a', 1), born('b', 2), born('c', 3), sent('a', 4, 'one'), out('a', 5), sent('b', 6, 'two'), out('b', 7)],
  records: lines.map(({ intervention, ...line }) => ({
    ...line,
    intervention_id: intervention,
    operation: '',
    warned: false,
    at: new Date(),
  })),
  asked: lines.map(({ intervention, event_id: event }) => ({ intervention, event, version })),
  audit: lines.map(({ intervention, event_id: eventId, code }) => ({
    interventionId: intervention,
    eventId,
    code,
  })),
  isPublished: ({ status }) => status === 'processed',
  stateOf: ({ status }) => status ?? null,
};
const ofRun = (over: Partial<SeenRun>): Partial<RunEvidence> => ({ runs: [{ ...run, ...over }] });
const second = (over: Partial<SeenBatch>): Partial<RunEvidence> =>
  ofRun({ batches: [batches[0] as SeenBatch, { ...(batches[1] as SeenBatch), ...over }] });
const sums = (over: Partial<SeenRun['counts']>): Partial<RunEvidence> => ofRun({ counts: { ...counts, ...over } });

describe('the judge of runs', () => {
  it('has nothing to say about a clean one', () => {
    expect(judgeRun(clean)).toEqual([]);
  });

  const broken: [keyof typeof RUN_RULES, string, Partial<RunEvidence>][] = [
    ['endedAtAll', 'a run that is still paused', ofRun({ state: 'paused', ended: false })],
    ['endedAtAll', 'a batch without an answer', second({ outcomes: null })],
    ['endedAtAll', 'events of which nobody knows', sums({ unknown: 1 })],
    ['agreedTo', 'a run that nobody was asked about', ofRun({ approval: null })],
    ['agreedTo', 'a run that was refused', ofRun({ approval: { state: 'refused', hash: 'h', by: 'ben' } })],
    ['agreedTo', 'a run that its maker approved', ofRun({ approval: { state: 'approved', hash: 'h', by: 'anna' } })],
    ['agreedTo', 'a run of another hash', ofRun({ approval: { state: 'approved', hash: 'i', by: 'ben' } })],
    ['agreedTo', 'a run of other events', ofRun({ plan: { ...run.plan, whole: false } })],
    ['inOneBatch', 'an event in two batches', second({ positions: [0, 1, 2], outcomes: ['changed_since_seen', 'changed', 'wrong_state'] })],
    ['recordedByBatch', 'a batch sent twice under two keys', { recorded: [...recorded, { id: 'again', key: 'run/r/2/again', outcome: 'none', lines: [] }] }],
    ['recordedByBatch', 'two records of a key', { recorded: [...recorded, { id: 'two', key: 'run/r/2', outcome: 'none', lines: [] }] }],
    ['recordedByBatch', 'another outcome than its record', second({ outcomes: ['changed', 'not_found'] })],
    ['recordedByBatch', 'an answer without a record', { ...second({ interventionId: null }), recorded: recorded.slice(0, 1) }],
    ['recordedByBatch', 'a record that nobody asked for', { recorded: [...recorded, { id: 'odd', key: 'somebody', outcome: 'none', lines: [] }] }],
    ['onceByRun', 'an event that was requeued twice', { history: [...clean.history, sent('a', 8, 'two')] }],
    ['sumsAdd', 'sums that do not add up', sums({ requested: 3, conflicted: 0 })],
    ['sumsAdd', 'sums of other batches', sums({ changed: 1, conflicted: 2, fates: { ...counts.fates, published: 1 } })],
    ['sumsAdd', 'a changed event without a fate', sums({ fates: { ...counts.fates, published: 1 } })],
    ['changedAsSaid', 'a change that it does not speak of', { history: [...clean.history, sent('c', 8, 'two')] }],
    ['changedAsSaid', 'a change that was none', { history: clean.history.filter(({ seq }) => seq !== '6') }],
    ['fatesAsHappened', 'an event that is not out', { history: clean.history.filter(({ seq }) => seq !== '7') }],
    ['fatesAsHappened', 'an event that did not die again', second({ fates: ['failedAgain', 'notLooked'] })],
    ['inOrder', 'an event sent before the earlier one of its aggregate was out', { history: [...clean.history.filter(({ seq }) => seq !== '5'), out('a', 8)] }],
    // What other races are judged by as well.
    ['recordedExactly', 'a change without a record', { records: clean.records.slice(1) }],
    ['asItsVersionSays', 'an event that was requeued since it was seen', { history: [born('a', 1), sent('a', 2, 'x'), forgedChange(3, { before: { status: 'pending' }, after: { status: 'dead' } }), ...clean.history.slice(3)] }],
    ['auditedOnce', 'a line that is not in the audit', { audit: clean.audit.slice(1) }],
  ]; // prettier-ignore
  it.each(broken)('%s catches %s', (rule, _what, over) => {
    expect(RUN_RULES[rule]({ ...clean, ...over })).toHaveLength(1);
  });

  it('lets an event be tried three times while somebody holds it', () => {
    const tried = (n: number): SeenBatch => ({ n, positions: [2], interventionId: `n${String(n)}`, outcomes: ['locked'], fates: [] });
    const held = [batches[0], { ...batches[1], positions: [1], outcomes: ['changed'] }] as SeenBatch[];
    expect(RUN_RULES.inOneBatch({ ...clean, ...ofRun({ batches: [...held, tried(3), tried(4), tried(5)] }) })).toEqual([]);
    expect(RUN_RULES.inOneBatch({ ...clean, ...ofRun({ batches: [...held, tried(3), tried(4), tried(5), tried(6)] }) })).toHaveLength(1);
  });
});
