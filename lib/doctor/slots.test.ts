import { describe, expect, it } from 'vitest';
import type { CatalogueHolder, Facts, SlotFacts } from './facts/facts';
import { SLOT_CHECKS } from './slots';

describe('a replication slot', () => {
  const HEALTHY: SlotFacts = {
    name: 'debezium', plugin: 'pgoutput', active: true, retainedBytes: 20_000_000, unconfirmedBytes: 4_096, status: 'reserved', invalidated: null, inactiveMs: null, drop: 'DROP',
  }; // prettier-ignore
  const { slot_catalogue: catalogue, ...ofRelay } = SLOT_CHECKS;
  const slotsOf = (found: SlotFacts[] | null, standby = false): Facts['slots'] =>
    found === null ? null : { wanted: null, standby, found };
  const found = (slots: SlotFacts[] | null, standby = false): string[] =>
    Object.entries(ofRelay).flatMap(([id, check]) =>
      check({ facts: { slots: slotsOf(slots, standby), catalogueHolders: [] } }).map(({ severity }) => `${id} ${severity}`),
    );

  it.each([
    ['that is read and keeps little', {}, []],
    ['whose reader starts anew', { active: false, inactiveMs: 20_000 }, []],
    ['whose reader has been away for a while', { active: false, inactiveMs: 90_000 }, ['slot_inactive act']],
    ['without a reader, where the server does not tell since when', { active: false }, ['slot_inactive act']],
    ['that keeps two gigabytes', { retainedBytes: 2e9, status: 'extended' }, ['slot_holds_wal watch']],
    ['that keeps twenty', { retainedBytes: 2e10, status: 'extended' }, ['slot_holds_wal act']],
    ['whose log is taken away next', { status: 'unreserved' }, ['slot_holds_wal act']],
    ['that is lost', { active: false, inactiveMs: 90_000, status: 'lost', retainedBytes: null }, ['slot_lost act']],
    ['that was given up for another reason', { active: false, invalidated: 'idle_timeout' }, ['slot_lost act']],
  ] as [string, Partial<SlotFacts>, string[]][])('%s: %j', (_, over, expected) => {
    expect(found([{ ...HEALTHY, ...over }])).toEqual(expected);
  });

  it('that is missing is found at a primary alone, and never where publishing does not go by slots', () => {
    expect([found([]), found([], true), found(null)]).toEqual([['slot_missing act'], [], []]);
  });

  it.each([
    ['that confirms', { transactions: 9_000_000 }, null, []],
    ['that confirms nothing', { transactions: 20_000_000 }, null, ['watch none']],
    ['that nobody reads any more', { transactions: 200_000_000, active: false }, null, ['act DROP']],
    ['of its own that nobody reads, of which that is said', { slot: 'debezium', transactions: 20_000_000, active: false }, [HEALTHY], []],
    ['of its own that is read and confirms nothing', { slot: 'debezium', transactions: 20_000_000 }, [HEALTHY], ['watch none']],
  ] as [string, Partial<CatalogueHolder>, SlotFacts[] | null, string[]][])('keeps the catalogue, one %s', (_, over, own, expected) => {
    const holder: CatalogueHolder = { slot: 'other', database: 'shop', active: true, transactions: 0, drop: 'DROP', ...over };
    const findings = catalogue({ facts: { catalogueHolders: [holder], slots: slotsOf(own) } });
    expect(findings.map(({ severity, cure }) => `${severity} ${cure ?? 'none'}`)).toEqual(expected);
  });
});
