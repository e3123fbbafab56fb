import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
import { GRUELBOX, GRUELBOX_COMMON, GRUELBOX_ROWS, GRUELBOX_WARNINGS, gruelboxOperations } from './parts/gruelbox';

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
    mustHave: ['id', 'invocation', 'nextattempttime', 'attempts', 'blocked', 'processed', 'version', 'uniquerequestid'],
    signature: ['uniquerequestid', 'invocation'],
    types: { blocked: 'boolean' },
    companions: ['txno_version', 'txno_sequence'],
    caseless: true,
  },
  facts: { source: 'gruelbox/transaction-outbox@d6196507', verified: 'source', warnings: GRUELBOX_WARNINGS },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE txno_outbox (
           id varchar(36) PRIMARY KEY, invocation text, nextattempttime timestamp(6), attempts int, blocked boolean, version int,
           uniquerequestid varchar(250) UNIQUE, processed boolean, lastattempttime timestamp(6), topic varchar(250) NOT NULL DEFAULT '*',
           seq bigint)`,
        'CREATE INDEX ON txno_outbox (processed, blocked, nextattempttime)',
        'CREATE INDEX ON txno_outbox (topic, processed, seq)',
      ],
    },
    rows: sampleRows(GRUELBOX_COMMON, GRUELBOX_ROWS).map((row) => ({
      ...row,
      values: Object.fromEntries(Object.entries(row.values).map(([name, value]) => [name.toLowerCase(), value])),
    })),
  },
});
