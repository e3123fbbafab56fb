import { describe, expect, it } from 'vitest';
import type { CollectorStatus } from '@/lib/shared/figures/collection';
import type { Summary } from '@/lib/shared/model';
import type { SlotHealth } from '@/lib/shared/figures/slot-health';
import { noFigures } from '@/lib/figures/summarise';
import { createCreatedTotals, createTypeLabels } from './counters';
import { render } from './exposition';
import { samplesOf } from './samples';
import { parseExposition, SLOT } from '@/fixtures/exposition';

const AS_OF = '2026-11-21T10:00:00.000Z';
const diagnosis: Summary['diagnosis'] = { verdict: 'healthy', since: null, evidence: [], holds: [] };
const unknownSlot: SlotHealth = {
  ...SLOT,
  ...{ known: 'unavailable', why: 'several_slots', name: null, assumed: false, state: null },
  ...{ inactiveSince: null, lagBytes: null, heldBytes: null, safeBytes: null, walStatus: null },
};
const collector: CollectorStatus = {
  state: 'collecting',
  method: 'statistics',
  foldedTo: AS_OF,
  watchedSince: AS_OF,
  backfill: null,
  everyMs: 5_000,
  cost: { statements: 1, rows: 0, milliseconds: 1 },
  advice: null,
};

describe('a replication slot', () => {
  const told = async (more: Partial<SlotHealth>): Promise<Record<string, number>> => {
    const summary: Summary = { ...noFigures('1h', AS_OF, 'external_relay'), slot: { ...SLOT, ...more }, diagnosis };
    const current = { id: 'a', up: true, summary, cost: { readings: 1, rows: 0, milliseconds: 3 } };
    const samples = samplesOf({ current, totals: null, collector }, { labels: createTypeLabels(), created: createCreatedTotals() });
    const { series } = parseExposition(await render(samples));
    const own = series.filter(({ name }) => name.startsWith('outbox_console_slot_'));
    expect(own.every(({ labels }) => labels.slot === 'debezium')).toBe(true);
    return Object.fromEntries(own.map(({ name, value }) => [name.replace('outbox_console_slot_', ''), value]));
  };

  it('says who reads it, for how long nobody has, and how much log it is about', async () => {
    expect(await told({})).toEqual({ active: 0, inactive_seconds: 90, lag_bytes: 1_000, held_bytes: 2_000, safe_bytes: 3_000 });
    expect(await told({ state: 'active', inactiveSince: null, safeBytes: null })).toEqual({
      active: 1,
      inactive_seconds: 0,
      lag_bytes: 1_000,
      held_bytes: 2_000,
    });
  });

  it('what is not known is absent: an older server, a slot that is lost, and one nobody can tell', async () => {
    expect(await told({ inactiveSince: null })).not.toHaveProperty('inactive_seconds');
    const gone = { inactiveSince: null, lagBytes: null, heldBytes: null, safeBytes: null };
    expect(await told({ ...gone, state: 'lost' })).toEqual({ active: 0 });
    expect(await told({ ...gone, state: 'missing' })).toEqual({ active: 0 });
    expect(await told(unknownSlot)).toEqual({});
    expect(await told({ ...unknownSlot, name: 'debezium', why: 'slots_hidden' })).toEqual({});
  });
});
