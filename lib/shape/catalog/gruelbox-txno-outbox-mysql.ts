import { defineShape, names } from '../define';
import { GRUELBOX, GRUELBOX_WARNINGS, gruelboxOperations } from './parts/gruelbox';

/** gruelbox transaction-outbox on MySQL, where its sixth migration makes a text of the flag `blocked`. */
export const gruelboxTxnoOutboxMysql = defineShape({
  ...GRUELBOX,
  key: 'gruelbox-txno-outbox-mysql',
  label: 'transaction-outbox (MySQL)',
  origin: 'gruelbox transaction-outbox (Java)',
  engines: ['mysql'],
  table: 'TXNO_OUTBOX',
  operations: gruelboxOperations('0'),
  detect: {
    mustHave: names('id invocation nextAttemptTime attempts blocked processed version uniqueRequestId'),
    signature: ['uniqueRequestId', 'invocation'],
    companions: ['TXNO_VERSION', 'TXNO_SEQUENCE'],
    caseless: true,
  },
  facts: { source: 'gruelbox/transaction-outbox@d6196507', verified: 'ran', warnings: GRUELBOX_WARNINGS },
});
