import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
import { EVENTUATE, EVENTUATE_COMMON, EVENTUATE_WARNINGS } from './parts/eventuate';

/** Eventuate Tram's messages with ids of the application: read by its CDC service from the log or, marked as published, by polling. */
export const eventuateTramMessage = defineShape({
  ...EVENTUATE,
  key: 'eventuate-tram-message',
  label: 'Eventuate Tram messages',
  origin: 'Eventuate Tram (Java)',
  engines: ['postgres', 'mysql'],
  table: 'eventuate.message',
  detect: {
    mustHave: ['id', 'destination', 'headers', 'payload', 'published', 'creation_time'],
    mustNotHave: ['dbid'],
    types: { creation_time: 'bigint' },
    companions: ['received_messages', 'offset_store', 'cdc_monitoring'],
  },
  facts: { source: 'eventuate-foundation/eventuate-common@6de8d54d', verified: 'source', warnings: EVENTUATE_WARNINGS },
  sample: {
    table: { mysql: 'message' },
    ddl: {
      postgres: [
        'CREATE SCHEMA eventuate',
        `CREATE TABLE eventuate.message (
           id varchar(1000) PRIMARY KEY, destination text NOT NULL, headers text NOT NULL, payload text NOT NULL,
           published smallint DEFAULT 0, message_partition smallint, creation_time bigint)`,
        'CREATE INDEX ON eventuate.message (published, id)',
        // A sentinel of the library: no event.
        `INSERT INTO eventuate.message VALUES ('sentinel', 'CDC-IGNORED', '{}', '{}', 0, NULL, 1767225600000)`,
      ],
      mysql: [
        `CREATE TABLE message (
           id varchar(255) PRIMARY KEY, destination longtext NOT NULL, headers longtext NOT NULL, payload longtext NOT NULL,
           published smallint DEFAULT 0, message_partition smallint, creation_time bigint, INDEX (published, id))`,
        `INSERT INTO message VALUES ('sentinel', 'CDC-IGNORED', '{}', '{}', 0, NULL, 1767225600000)`,
      ],
    },
    rows: sampleRows(EVENTUATE_COMMON, [
      ['pending', { id: '0000017b-1', creation_time: 1_767_225_601_000 }],
      ['pending', { id: '0000017b-2', creation_time: 1_767_225_602_000, destination: 'com.shop.Customer' }],
      ['pending', { id: '0000017b-3', creation_time: 1_767_225_603_000, headers: '{}' }],
      ['published', { id: '0000017b-4', creation_time: 1_767_225_604_000, published: 1 }],
      ['published', { id: '0000017b-5', creation_time: 1_767_225_605_000, published: 1, message_partition: 3 }],
      ['pending', { id: 'ключ / 이벤트', creation_time: 1_767_225_606_999, headers: 'not json', payload: 'not json' }],
    ]),
  },
});
