import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
import { GRUELBOX, GRUELBOX_COMMON, GRUELBOX_ROWS, GRUELBOX_WARNINGS, gruelboxOperations } from './parts/gruelbox';

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
    mustHave: ['id', 'invocation', 'nextAttemptTime', 'attempts', 'blocked', 'processed', 'version', 'uniqueRequestId'],
    signature: ['uniqueRequestId', 'invocation'],
    companions: ['TXNO_VERSION', 'TXNO_SEQUENCE'],
    caseless: true,
  },
  facts: { source: 'gruelbox/transaction-outbox@d6196507', verified: 'ran', warnings: GRUELBOX_WARNINGS },
  sample: {
    ddl: {
      mysql: [
        `CREATE TABLE TXNO_OUTBOX (
           id varchar(36) PRIMARY KEY, invocation mediumtext, nextAttemptTime timestamp(6) NULL, attempts int, blocked varchar(250), version int,
           uniqueRequestId varchar(250) UNIQUE, processed tinyint(1), lastAttemptTime timestamp(6) NULL,
           topic varchar(250) NOT NULL DEFAULT '*', seq bigint,
           INDEX (processed, blocked, nextAttemptTime), INDEX (topic, processed, seq))`,
      ],
    },
    rows: sampleRows(GRUELBOX_COMMON, GRUELBOX_ROWS),
  },
});
