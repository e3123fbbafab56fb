import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
import { AXON, axonStates } from './parts/axon';

/** Axon's dead letters through JPA, named by Spring's naming strategy. */
export const axonDeadLetterJpa = defineShape({
  ...AXON,
  key: 'axon-dead-letter-jpa',
  label: 'Axon dead letters (JPA)',
  origin: 'Axon Framework (Java)',
  engines: ['postgres', 'mysql'],
  table: 'dead_letter_entry',
  columns: {
    id: 'dead_letter_id',
    // Renamed between releases.
    sequence: { anyOf: ['sequence_index', 'index'] },
    type: 'payload_type',
    topic: 'processing_group',
    aggregateId: { anyOf: ['sequence_identifier', 'sequence'] },
    createdAt: 'enqueued_at',
    diedAt: 'enqueued_at',
    attemptedAt: 'processing_started',
    error: 'cause_message',
    payload: 'payload',
    headers: 'meta_data',
  },
  states: axonStates('processing_started'),
  detect: {
    mustHave: ['dead_letter_id', 'processing_group', 'payload_type', 'enqueued_at', 'processing_started', 'cause_type', 'cause_message'],
    signature: ['dead_letter_id', 'processing_group'],
  },
  facts: {
    source: 'AxonFramework/AxonFramework@0570466f',
    verified: 'partial',
    warnings: ['binary_envelope', 'payload_may_be_elsewhere', 'library_partly_read'],
  },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE dead_letter_entry (
           dead_letter_id varchar(255) PRIMARY KEY, processing_group varchar(255) NOT NULL, sequence_identifier varchar(255) NOT NULL,
           sequence_index bigint NOT NULL, message_type varchar(255) NOT NULL, event_identifier varchar(255) NOT NULL,
           time_stamp varchar(255) NOT NULL, payload_type varchar(255) NOT NULL, payload_revision varchar(255), payload bytea NOT NULL,
           meta_data bytea, aggregate_identifier varchar(255), enqueued_at timestamp NOT NULL, last_touched timestamp,
           processing_started timestamp, cause_type varchar(255), cause_message varchar(1023), diagnostics bytea)`,
        'CREATE INDEX ON dead_letter_entry (processing_group)',
        'CREATE INDEX ON dead_letter_entry (processing_group, sequence_identifier)',
      ],
      mysql: [
        `CREATE TABLE dead_letter_entry (
           dead_letter_id varchar(255) PRIMARY KEY, processing_group varchar(255) NOT NULL, sequence_identifier varchar(255) NOT NULL,
           sequence_index bigint NOT NULL, message_type varchar(255) NOT NULL, event_identifier varchar(255) NOT NULL,
           time_stamp varchar(255) NOT NULL, payload_type varchar(255) NOT NULL, payload_revision varchar(255), payload longblob NOT NULL,
           meta_data longblob, aggregate_identifier varchar(255), enqueued_at datetime(6) NOT NULL, last_touched datetime(6),
           processing_started datetime(6), cause_type varchar(255), cause_message varchar(1023), diagnostics longblob,
           INDEX (processing_group), INDEX (processing_group, sequence_identifier))`,
      ],
    },
    rows: sampleRows(
      {
        processing_group: 'projections',
        sequence_identifier: 'order-1',
        message_type: 'event',
        event_identifier: 'e-1',
        time_stamp: '2026-01-01T00:00:01Z',
        payload_type: 'com.shop.OrderPaid',
        payload: '<order/>',
        cause_type: 'java.lang.IllegalStateException',
        cause_message: 'no such customer',
      },
      [
        ['dead', { dead_letter_id: 'd-1', sequence_index: 0, enqueued_at: '2026-01-01 00:00:01' }],
        // Behind the first of its sequence: it has no cause of its own.
        ['dead', { dead_letter_id: 'd-2', sequence_index: 1, enqueued_at: '2026-01-01 00:00:02', cause_type: null, cause_message: null }],
        ['dead', { dead_letter_id: 'd-3', sequence_index: 0, sequence_identifier: 'order-2', enqueued_at: '2026-01-01 00:00:03' }],
        // A claim nobody ended: it has lapsed.
        [
          'dead',
          {
            dead_letter_id: 'd-4',
            sequence_index: 0,
            sequence_identifier: 'order-3',
            enqueued_at: '2026-01-01 00:00:04',
            processing_started: '2026-01-01 00:00:05',
          },
        ],
        [
          'processing',
          {
            dead_letter_id: 'd-5',
            sequence_index: 0,
            sequence_identifier: 'order-4',
            enqueued_at: '2026-01-01 00:00:05',
            processing_started: '2037-01-01 00:00:00',
          },
        ],
        ['dead', { dead_letter_id: 'd-6', sequence_index: 0, processing_group: 'mails', enqueued_at: '2026-01-01 00:00:06' }],
      ],
    ),
  },
});
