import { defineShape, names } from '../define';
import { GRUELBOX, GRUELBOX_WARNINGS, gruelboxOperations } from './parts/gruelbox';

/** gruelbox transaction-outbox on PostgreSQL: names folded to lower case, flags that are booleans. */
export const gruelboxTxnoOutboxPg = defineShape({
  ...GRUELBOX,
  key: 'gruelbox-txno-outbox-pg',
  label: 'transaction-outbox (PostgreSQL)',
  origin: 'gruelbox transaction-outbox (Java)',
  engines: ['postgres'],
  table: 'txno_outbox',
  operations: gruelboxOperations(false),
  detect: {
    mustHave: names('id invocation nextattempttime attempts blocked processed version uniquerequestid'),
    signature: ['uniquerequestid', 'invocation'],
    types: { blocked: 'boolean' },
    companions: ['txno_version', 'txno_sequence'],
    caseless: true,
  },
  facts: { source: 'gruelbox/transaction-outbox@d6196507', verified: 'source', warnings: GRUELBOX_WARNINGS },
});
