/** The judge of fault runs must be able to say no: each rule on evidence made to break it. */
import { describe, expect, it } from 'vitest';
import { forgedChange } from '../races/forged';
import { encodeVersion } from '@/lib/outbox/rows/version';
import type { InterventionResult } from '@/lib/shared/model';
import type { FaultEvidence, Recorded, SentKey, Told } from './evidence';
import { FAULT_RULES } from './judge';

const DEAD = { id: 'a', status: 'failed' };
const PENDING = { id: 'a', status: 'pending' };
const VERSION = encodeVersion({ place: 'main', state: 'dead', exact: '1', stable: '0'.repeat(32), touched: 0 });
const inserted = forgedChange(1, { op: 'INSERT', after: DEAD });
const requeued = forgedChange(2, { before: DEAD, after: PENDING, ours: true, intervention: 'i' });

const result = (over: Partial<InterventionResult> = {}): InterventionResult => ({
  interventionId: 'i',
  outbox: 'escrow',
  operation: 'requeue',
  reason: 'a run of faults',
  actor: 'operator',
  at: '2026-01-01T00:00:02Z',
  outcome: 'applied',
  changed: ['a'],
  skipped: [],
  undo: null,
  ...over,
});
const told = (answer: InterventionResult | null, status: number | null = 200, sent = 0): Told => ({
  sent,
  ended: sent + 1,
  status,
  answer,
});
const unknown = told(result({ outcome: 'unknown', at: null, changed: [] }));
const nothing = told(result({ outcome: 'none', at: null, changed: [] }));
const sent = (over: Partial<SentKey> = {}): SentKey => ({
  key: 'k',
  events: [{ id: 'a', version: VERSION }],
  tries: [told(result())],
  asked: [],
  finals: [told(result())],
  ...over,
});
const record: Recorded = { id: 'i', key: 'k', outcome: 'applied', lines: [{ event_id: 'a', code: null }] };
const line = { intervention_id: 'i', operation: 'requeue', event_id: 'a', code: null, warned: false, at: new Date() };
const entry = { interventionId: 'i', eventId: 'a', code: null };

const evidence = (over: Partial<FaultEvidence> = {}): FaultEvidence => ({
  inserted: ['a'],
  history: [inserted, requeued],
  records: [line],
  asked: [{ intervention: 'i', event: 'a', version: VERSION }],
  isPublished: ({ status }) => status === 'processed',
  stateOf: ({ status }) => (status === 'failed' ? 'dead' : (status ?? null)),
  publishedIsGone: false,
  keys: [sent()],
  recorded: [record],
  audit: [entry],
  listed: [{ id: 'a', state: 'pending' }],
  ...over,
});
/** The same in a world in which nothing was committed. */
const without = (key: Partial<SentKey>, over: Partial<FaultEvidence> = {}): Partial<FaultEvidence> => ({
  history: [inserted],
  records: [],
  recorded: [],
  audit: [],
  listed: [{ id: 'a', state: 'dead' }],
  keys: [sent({ tries: [told(null, 503)], finals: [told(null, 404)], ...key })],
  ...over,
});

describe('the judge of a fault run', () => {
  const clean: [string, Partial<FaultEvidence>][] = [
    ['a clean run', {}],
    ['an unknown that was applied', { keys: [sent({ tries: [unknown], finals: [told(result()), told(result())] })] }],
    ['an unknown that was not', without({ tries: [unknown], finals: [nothing, nothing] }, { audit: [{ ...entry, code: 'not_applied' }] })],
    ['an error that changed nothing', without({})],
    ['an error beside a try that nobody answered', { keys: [sent({ tries: [told(null, null), told(null, 503)] })] }],
    [
      'a try that came to nothing, and a later one that was applied',
      { keys: [sent({ tries: [told(null, 503), told(result(), 200, 9)], asked: [told(null, 404, 4)] })] },
    ],
  ];
  it.each(clean)('has nothing to say about %s', (_what, over) => {
    for (const [rule, judge] of Object.entries(FAULT_RULES)) expect(judge(evidence(over)), rule).toEqual([]);
  });

  const skipped = { ...record, outcome: 'none', lines: [{ event_id: 'a', code: 'locked' }] };
  const broken: [keyof typeof FAULT_RULES, string, Partial<FaultEvidence>][] = [
    ['inOnePlace', 'an event in two places', { history: [inserted, forgedChange(2, { op: 'INSERT', place: 'archive', after: {} })] }],
    ['inOnePlace', 'an event that was committed and is gone', { inserted: ['a', 'b'] }],
    ['recordedExactly', 'a change without a record', { records: [] }],
    ['recordedExactly', 'a record without a change', { history: [inserted] }],
    ['recordsOfKeys', 'a record nobody sent for', { keys: [] }],
    ['recordsOfKeys', 'a key that was carried out twice', { recorded: [record, { ...record, id: 'j' }] }],
    ['answersAsRecorded', 'a success without a record', without({ tries: [told(result())] })],
    ['answersAsRecorded', 'a success that the record calls a skip', { recorded: [skipped], keys: [sent({ finals: [nothing] })] }],
    ['answersAsRecorded', 'an answer with the id of another try', { keys: [sent({ tries: [told(result({ interventionId: 'j' }))] })] }],
    ['answersAsRecorded', 'an unknown that names events', { keys: [sent({ tries: [told(result({ outcome: 'unknown', at: null }))] })] }],
    ['refusalsHold', 'an error though it was applied', { keys: [sent({ tries: [told(null, 503)] })] }],
    [
      'nothingStaysNothing',
      'a record after the key had come to nothing',
      { keys: [sent({ tries: [told(null, null)], asked: [told(null, 404, 5)] })] },
    ],
    ['settledTruly', 'a key that is still unknown', { keys: [sent({ finals: [unknown] })] }],
    ['settledTruly', 'a key nobody can say anything about', { keys: [sent({ finals: [told(null, 503)] })] }],
    ['settledTruly', 'a key that was never asked for', { keys: [sent({ finals: [] })] }],
    ['settledTruly', 'an applied key that is called nothing', { keys: [sent({ finals: [nothing] })] }],
    ['settledTruly', 'an unknown that was forgotten', without({ tries: [unknown] })],
    ['auditedOnce', 'a record line that the audit lacks', { audit: [] }],
    ['auditedOnce', 'a line that is there twice', { audit: [entry, entry] }],
    ['auditedOnce', 'a try called not applied that has a record', { audit: [entry, { ...entry, code: 'not_applied' }] }],
    ['auditedOnce', 'an entry without a record', { audit: [entry, { ...entry, interventionId: 'j' }] }],
    ['shownAsItIs', 'an event that no list shows', { listed: [] }],
    ['shownAsItIs', 'an event that is shown twice', { listed: [...evidence().listed, ...evidence().listed] }],
    ['shownAsItIs', 'an event that is in no table', { listed: [...evidence().listed, { id: 'b', state: 'dead' }] }],
  ];
  it.each(broken)('%s catches %s', (rule, _what, over) => {
    expect(FAULT_RULES[rule](evidence(over))).toHaveLength(1);
  });
});
