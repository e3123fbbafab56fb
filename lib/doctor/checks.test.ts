import { describe, expect, it } from 'vitest';
import type { Patient } from './check';
import { bufferPoolCheck } from './checks/buffer-pool';
import { sqlModeCheck } from './checks/sql-mode';
import type { InnodbFacts } from './facts/facts';

const innodb: InnodbFacts = { historyLength: 10, bufferPoolBytes: 1_073_741_824, missShare: 0.001, requests: 5_000_000, strict: true, zeroDatesAllowed: false }; // prettier-ignore
/** What belongs to a whole server cannot be planted in one that other tests use. */
const patient = (over: Partial<InnodbFacts>, tableBytes = 1_000_000): Patient =>
  ({ facts: { innodb: { ...innodb, ...over }, main: { tableBytes, indexBytes: 0 }, dead: null } }) as unknown as Patient;

describe('a server of MySQL', () => {
  it('that cuts what does not fit is found, one that refuses is not', () => {
    expect(sqlModeCheck.examine(patient({ strict: false }))).toMatchObject([{ severity: 'act' }]);
    expect(sqlModeCheck.examine(patient({}))).toEqual([]);
  });

  it('whose buffer pool is smaller than the outbox, or misses often, is found', () => {
    expect(bufferPoolCheck.examine(patient({}))).toEqual([]);
    expect(bufferPoolCheck.examine(patient({}, 2_000_000_000))).toMatchObject([{ values: { bytes: 2_000_000_000 } }]);
    expect(bufferPoolCheck.examine(patient({ missShare: 0.05 }))).toMatchObject([{ values: { missShare: 0.05 } }]);
    expect(bufferPoolCheck.examine(patient({ missShare: 0.05, requests: 1_000 }))).toEqual([]);
  });
});
