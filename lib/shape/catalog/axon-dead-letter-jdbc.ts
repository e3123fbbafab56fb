import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
import { AXON, axonStates } from './parts/axon';

/** Axon's dead letters through JDBC: every time is an ISO 8601 text. */
export const axonDeadLetterJdbc = defineShape({
  ...AXON,
  key: 'axon-dead-letter-jdbc',
  label: 'Axon dead letters (JDBC)',
  origin: 'Axon Framework (Java)',
  engines: ['postgres', 'mysql'],
  table: 'DeadLetterEntry',
  columns: {
    id: 'deadLetterIdentifier',
    sequence: 'sequenceIndex',
    type: 'payloadType',
    topic: 'processingGroup',
    aggregateId: 'sequenceIdentifier',
    createdAt: { column: 'enqueuedAt', time: 'iso' },
    diedAt: { column: 'enqueuedAt', time: 'iso' },
    attemptedAt: { column: 'processingStarted', time: 'iso' },
    error: 'causeMessage',
    payload: 'payload',
    headers: 'metaData',
  },
  states: axonStates('processingStarted'),
  ordering: { key: ['processingGroup', 'sequenceIdentifier'], by: 'sequence', blockedBy: ['processing', 'dead'] },
  detect: {
    mustHave: [
      'deadLetterIdentifier',
      'processingGroup',
      'sequenceIdentifier',
      'sequenceIndex',
      'enqueuedAt',
      'processingStarted',
      'causeType',
    ],
    signature: ['deadLetterIdentifier', 'processingGroup'],
    caseless: true,
  },
  facts: {
    source: 'AxonFramework/AxonFramework@12d46f6a',
    verified: 'source',
    warnings: ['binary_envelope'],
  },
  sample: {
    table: { postgres: 'deadletterentry' },
    ddl: {
      postgres: [
        `CREATE TABLE deadletterentry (
           deadletteridentifier varchar(255) PRIMARY KEY, processinggroup varchar(255) NOT NULL, sequenceidentifier varchar(255) NOT NULL,
           sequenceindex bigint NOT NULL, messagetype varchar(255) NOT NULL, eventidentifier varchar(255) NOT NULL,
           "timestamp" varchar(255) NOT NULL, payloadtype varchar(255) NOT NULL, payloadrevision varchar(255), payload bytea NOT NULL,
           metadata bytea, aggregateidentifier varchar(255), enqueuedat varchar(255) NOT NULL, lasttouched varchar(255),
           processingstarted varchar(255), causetype varchar(255), causemessage varchar(255), diagnostics bytea)`,
        'CREATE INDEX ON deadletterentry (processinggroup)',
        'CREATE UNIQUE INDEX ON deadletterentry (processinggroup, sequenceidentifier, sequenceindex)',
      ],
      mysql: [
        `CREATE TABLE DeadLetterEntry (
           deadLetterIdentifier varchar(255) PRIMARY KEY, processingGroup varchar(255) NOT NULL, sequenceIdentifier varchar(255) NOT NULL,
           sequenceIndex bigint NOT NULL, messageType varchar(255) NOT NULL, eventIdentifier varchar(255) NOT NULL,
           timeStamp varchar(255) NOT NULL, payloadType varchar(255) NOT NULL, payloadRevision varchar(255), payload blob NOT NULL,
           metaData blob, aggregateIdentifier varchar(255), enqueuedAt varchar(255) NOT NULL, lastTouched varchar(255),
           processingStarted varchar(255), causeType varchar(255), causeMessage varchar(255), diagnostics blob,
           INDEX (processingGroup), UNIQUE (processingGroup, sequenceIdentifier, sequenceIndex))`,
      ],
    },
    rows: sampleRows(
      {
        processinggroup: 'projections',
        sequenceidentifier: 'order-1',
        messagetype: 'event',
        eventidentifier: 'e-1',
        timestamp: '2026-01-01T00:00:01Z',
        payloadtype: 'com.shop.OrderPaid',
        payload: '<order/>',
        causetype: 'java.lang.IllegalStateException',
        causemessage: 'no such customer',
      },
      [
        ['dead', { deadletteridentifier: 'd-1', sequenceindex: 0, enqueuedat: '2026-01-01T00:00:01Z' }],
        [
          'dead',
          {
            deadletteridentifier: 'd-2',
            sequenceindex: 1,
            enqueuedat: '2026-01-01T00:00:02.123456789Z',
            causetype: null,
            causemessage: null,
          },
        ],
        ['dead', { deadletteridentifier: 'd-3', sequenceindex: 0, sequenceidentifier: 'order-2', enqueuedat: '2026-01-01T00:00:03.5Z' }],
        [
          'dead',
          {
            deadletteridentifier: 'd-4',
            sequenceindex: 0,
            sequenceidentifier: 'order-3',
            enqueuedat: '2026-01-01T00:00:04Z',
            processingstarted: '2026-01-01T00:00:05.000001Z',
          },
        ],
        [
          'processing',
          {
            deadletteridentifier: 'd-5',
            sequenceindex: 0,
            sequenceidentifier: 'order-4',
            enqueuedat: '2026-01-01T00:00:05Z',
            processingstarted: '2037-01-01T00:00:00Z',
          },
        ],
        ['dead', { deadletteridentifier: 'd-6', sequenceindex: 0, processinggroup: 'mails', enqueuedat: '2026-01-01T00:00:06Z' }],
      ],
    ),
  },
});
