import type { Check } from '../check';
import { tablesOf } from '../facts/facts';

/** Reads counted before the share of misses says anything: a server that has just started misses all. */
const LEAST_REQUESTS = 1_000_000;
const MISS_SHARE = 0.02;

/** The outbox does not fit into memory beside everything else: what ten times the rows cost is then forty times the time. */
export const bufferPoolCheck: Check = {
  id: 'buffer_pool',
  engines: ['mysql'],
  examine({ facts }) {
    const { innodb } = facts;
    if (innodb === null || innodb.bufferPoolBytes === null) return [];
    const bytes = tablesOf(facts).reduce((sum, { tableBytes, indexBytes }) => sum + tableBytes + indexBytes, 0);
    const misses = innodb.missShare !== null && (innodb.requests ?? 0) >= LEAST_REQUESTS && innodb.missShare >= MISS_SHARE;
    if (bytes < innodb.bufferPoolBytes && !misses) return [];
    const poolBytes = innodb.bufferPoolBytes;
    return [
      {
        severity: 'watch',
        values: { bytes, poolBytes, missShare: innodb.missShare },
        cure: `SET GLOBAL innodb_buffer_pool_size = ${Math.ceil((2 * Math.max(bytes, poolBytes)) / 134_217_728) * 134_217_728};`,
      },
    ];
  },
};
