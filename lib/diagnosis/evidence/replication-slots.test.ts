/** What no real server shows within a test: sizes, older versions, standbys, and hours of readings. */
import { describe, expect, test } from 'vitest';
import type { SlotSeen, SlotsSeen, SlotSight } from '@/lib/outbox/replication-slots/seen';
import type { Diagnosis } from '@/lib/shared/figures/verdicts';
import { diagnose } from '../judge/diagnose';
import { slotHealth } from '@/lib/outbox/replication-slots/health';
import { noFigures } from '@/lib/figures/summarise';
import { ago, NOW, reading as emptyReading } from '@/fixtures/readings';
import { slotsIn, type Reading } from '@/lib/live/reading';

const GB = 1_000_000_000;
const ANY: SlotSight = { wanted: null, why: null };
const CALM: SlotSeen = {
  name: 'debezium',
  plugin: 'pgoutput',
  active: true,
  temporary: false,
  synced: false,
  retainedBytes: 4_096,
  unconfirmedBytes: 1_024,
  confirmedTo: 1_000_000,
  safeBytes: null,
  status: 'reserved',
  invalidated: null,
  inactiveSince: null,
};

interface Seen extends Partial<SlotSeen> {
  inserted?: number | null;
  standby?: boolean;
  /** No slot at all. */
  none?: boolean;
}

function look({ inserted = 100, standby = false, none = false, ...slot }: Seen, secondsAgo: number, sight: SlotSight): Reading {
  const seen: SlotsSeen = { standby, inserted, slots: none ? [] : [{ ...CALM, ...slot }] };
  const base = emptyReading({ traits: { createdAt: false, slots: sight } }, secondsAgo);
  return { ...base, figures: { ...base.figures, 'replication-slot': { seen } } };
}

/** What is said after looks every `everySeconds`, the newest of them now; each is what `at(secondsAgo)` answers. */
function after(seconds: number, at: (secondsAgo: number) => Seen, everySeconds = 5, sight = ANY): Diagnosis {
  const looks: Reading[] = [];
  for (let secondsAgo = seconds; secondsAgo >= 0; secondsAgo -= everySeconds) looks.push(look(at(secondsAgo), secondsAgo, sight));
  const reading = looks.at(-1);
  if (reading === undefined) throw new Error('nobody looked');
  const figures = { ...noFigures('1h', reading.asOf, 'no_events'), slot: slotHealth(sight, slotsIn(reading)) };
  return diagnose({ reading, figures, failure: null, previous: looks.slice(0, -1), history: null, now: NOW });
}

const gone = (more: Seen = {}): Seen => ({ active: false, unconfirmedBytes: 500_000, ...more });

describe('nobody is connected', () => {
  test('a server that tells since when: a look now and one before are enough', () => {
    const told = gone({ inactiveSince: ago(400) });
    expect(after(10, () => told)).toMatchObject({ verdict: 'relay_stopped', since: ago(400) });
    expect(after(5, () => told).verdict).toBe('healthy');
    expect(after(10, () => gone({ inactiveSince: ago(200) })).verdict).toBe('healthy');
  });

  test('an older server does not tell: it has to be watched for as long', () => {
    const later = (secondsAgo: number): Seen => gone({ inserted: secondsAgo < 30 ? 140 : 100 });
    expect(after(55, later).verdict).toBe('healthy');
    expect(after(65, later)).toMatchObject({ verdict: 'relay_stopped', since: null, evidence: [{ values: { count: 40 } }, {}, {}, {}] });
    expect(after(295, () => gone()).verdict).toBe('healthy');
    expect(after(300, () => gone()).verdict).toBe('relay_stopped');
    // Seen connected before: then it is known since when.
    expect(after(300, (at) => (at > 100 ? {} : later(at)))).toMatchObject({ verdict: 'relay_stopped', since: ago(100) });
  });

  test.each<[string, (secondsAgo: number) => Seen]>([
    ['its reader comes by and goes on', (at) => gone({ confirmedTo: 1_000_000 - Math.floor(at / 100), inserted: 1_000 - at })],
    ['nothing but the housekeeping of an idle server was written', () => gone({ unconfirmedBytes: 9_000, inactiveSince: ago(40_000) })],
    ['what was counted late had been written before it left', (at) => gone({ inserted: at > 90 ? 100 : 101, inactiveSince: ago(100) })],
    ['it was restarted', (at) => (at > 50 || at < 10 ? {} : gone({ inserted: 1_000 - at, inactiveSince: ago(50) }))],
    ['everything is confirmed', (at) => gone({ unconfirmedBytes: 0, inactiveSince: ago(4_000), inserted: 1_000 - at })],
  ])('not: %s', (_, at) => {
    expect(after(600, at).verdict).toBe('healthy');
  });

  test('nobody knows what was between two looks that are far apart', () => {
    expect(after(800, () => gone(), 100).verdict).toBe('healthy');
  });
});

describe('nothing is confirmed', () => {
  const burst = (at: number): Seen => ({ inserted: 1_000 - Math.min(at, 500), unconfirmedBytes: (600 - Math.min(at, 500)) * 10_000 });

  test('of what was written five minutes ago, whether or not somebody is connected at the moment', () => {
    expect(after(600, burst)).toMatchObject({ verdict: 'relay_stopped', since: null, evidence: [{ code: 'slot_silent' }, {}, {}, {}] });
    const movedBefore = (at: number): Seen => ({ ...burst(at), confirmedTo: at > 590 ? 5 : 6 });
    expect(after(600, movedBefore)).toMatchObject({ verdict: 'relay_stopped', since: ago(495) });
    expect(after(600, (at) => ({ ...burst(at), active: at % 20 === 0 })).verdict).toBe('relay_stopped');
  });

  test.each<[string, (secondsAgo: number) => Seen]>([
    ['it confirms once a minute while a burst goes on', (at) => ({ ...burst(at), confirmedTo: 2_000 - Math.floor(at / 60) })],
    ['only other tables are written', (at) => ({ unconfirmedBytes: (1_000 - at) * 1_000_000 })],
    ['one event was counted when it was through', (at) => ({ inserted: at > 585 ? 100 : 101, unconfirmedBytes: 5_000 })],
    [
      'what was counted left too little log for an event to be sure',
      (at) => ({ inserted: at > 500 ? 100 : 101, unconfirmedBytes: at > 500 ? 100 : 9_000 }),
    ],
    ['it was written four minutes ago', (at) => ({ inserted: at > 240 ? 100 : 200 })],
    ['nobody counts inserts', (at) => ({ ...burst(at), inserted: null })],
    ['the counters began anew', (at) => ({ inserted: at > 500 ? 900 : 0 })],
  ])('not: %s', (_, at) => {
    expect(after(600, at).verdict).toBe('healthy');
  });
});

describe('log held back', () => {
  test('so much for five minutes and not less', () => {
    const growing = (at: number): Seen => ({ retainedBytes: 20 * GB - at * 1_000_000 });
    expect(after(300, growing)).toMatchObject({
      verdict: 'log_held',
      evidence: [{ code: 'slot_holds', values: { slot: 'debezium' } }, { code: 'slot_fills_disk' }, {}],
    });
    expect(after(290, growing).verdict).toBe('healthy');
    expect(after(600, (at) => ({ retainedBytes: 12 * GB + at * 1_000_000 })).verdict).toBe('healthy');
    expect(after(600, () => ({ retainedBytes: 9 * GB })).verdict).toBe('healthy');
  });

  test('what the server is about to take away, seen twice', () => {
    expect(after(10, () => ({ status: 'unreserved' }))).toMatchObject({
      verdict: 'log_held',
      evidence: [{}, { code: 'slot_endangered' }, {}],
    });
    expect(after(10, (at) => ({ status: at === 5 ? 'reserved' : 'unreserved' })).verdict).toBe('healthy');
    expect(after(600, () => ({ status: 'extended', retainedBytes: 2 * GB })).verdict).toBe('healthy');
  });

  test('a relay that has stopped comes first, with the log it holds beside it', () => {
    const both = gone({ inactiveSince: ago(4_000), status: 'unreserved', retainedBytes: 2 * GB });
    expect(after(20, () => both)).toMatchObject({
      verdict: 'relay_stopped',
      evidence: [{ code: 'slot_lag' }, { code: 'slot_held' }, { code: 'slot_holds' }, { code: 'slot_unread' }],
    });
  });
});

describe('a slot that is not there', () => {
  const named: SlotSight = { wanted: 'orders', why: null };

  test('is a stop where the table is in use, and none on a standby', () => {
    expect(after(60, () => ({ none: true }), 5, named)).toMatchObject({ verdict: 'relay_stopped', since: null });
    expect(after(60, () => ({ none: true }))).toMatchObject({
      verdict: 'relay_stopped',
      evidence: [{ code: 'slot_missing', values: { slot: null } }],
    });
    expect(after(55, () => ({ none: true }), 5, named).verdict).toBe('healthy');
    expect(after(600, () => ({ none: true, inserted: 0 }), 5, named).verdict).toBe('healthy');
    expect(after(600, () => ({ none: true, standby: true }), 5, named)).toMatchObject({
      verdict: 'healthy',
      evidence: [{ code: 'slot_unknown', values: { why: 'slots_elsewhere' } }],
    });
  });

  test('a standby has copies of the slots of its primary: they tell nothing of who reads there', () => {
    const copy = gone({ synced: true, standby: true, inactiveSince: ago(9_000) });
    expect(after(600, () => copy)).toMatchObject({ verdict: 'healthy', evidence: [{ values: { why: 'slots_elsewhere' } }] });
    // On what was a standby once, they are the slots.
    expect(after(600, () => ({ ...copy, standby: false })).verdict).toBe('relay_stopped');
  });

  test('a slot of another plugin is left to others: whether this outbox has one is not known', () => {
    expect(after(600, () => gone({ plugin: 'test_decoding', inactiveSince: ago(9_000) }))).toMatchObject({
      verdict: 'healthy',
      evidence: [{ code: 'slot_unknown', values: { why: 'slot_not_found' } }],
    });
  });
});
