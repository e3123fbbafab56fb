import { sampleId, sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';

/** Envelopes Wolverine gave up. One that is marked as replayable is moved back among the incoming ones by the library, its count at zero. */
export const wolverineDeadLetters = defineShape({
  key: 'wolverine-dead-letters',
  label: 'Wolverine dead letters',
  origin: 'Wolverine (C#)',
  engines: ['postgres', 'mysql'],
  table: 'wolverine_dead_letters',
  family: 'dead_letters',
  kind: 'flag',
  columns: {
    id: 'id',
    type: 'message_type',
    topic: 'received_at',
    createdAt: 'sent_at',
    availableAt: 'execution_time',
    error: 'exception_message',
    payload: 'body',
  },
  states: [
    { state: 'retrying', label: 'replayable', when: { column: 'replayable', isTrue: true } },
    { state: 'dead', when: { always: true } },
  ],
  operations: {
    retry: { refuse: 'retry_starts_over' },
    requeue: [{ from: ['dead'], version: 'exact', set: { replayable: { value: true } }, basis: 'official' }],
    release: { refuse: 'not_claimed' },
  },
  archive: { from: ['dead'] },
  payload: { encoding: 'bytes', warn: 'binary_envelope' },
  detect: {
    mustHave: ['id', 'body', 'message_type', 'received_at', 'exception_type', 'exception_message', 'sent_at', 'replayable'],
    signature: ['replayable', 'exception_type'],
    types: { replayable: 'boolean' },
    companions: ['wolverine_incoming_envelopes'],
  },
  facts: { source: 'JasperFx/wolverine@a4b6f5bd', verified: 'source', warnings: ['binary_envelope'] },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE wolverine_dead_letters (
           id uuid PRIMARY KEY, execution_time timestamptz, body bytea NOT NULL, message_type text NOT NULL, received_at text, source text,
           exception_type text, exception_message text, sent_at timestamptz, replayable boolean)`,
        'CREATE INDEX ON wolverine_dead_letters (replayable) WHERE replayable',
      ],
      mysql: [
        `CREATE TABLE wolverine_dead_letters (
           id char(36) PRIMARY KEY, execution_time datetime, body longblob NOT NULL, message_type varchar(500) NOT NULL, received_at varchar(500),
           source varchar(500), exception_type text, exception_message text, sent_at datetime, replayable tinyint(1), INDEX (replayable))`,
      ],
    },
    rows: sampleRows(
      {
        body: 'envelope',
        message_type: 'OrderPlaced',
        received_at: 'rabbitmq://queue/orders',
        source: 'shop',
        exception_type: 'System.TimeoutException',
        exception_message: 'no answer from the bank',
        replayable: '0',
      },
      [
        ['dead', { id: sampleId(1), sent_at: '2026-01-01 00:00:01' }],
        ['dead', { id: sampleId(2), sent_at: '2026-01-01 00:00:02', received_at: null, source: null }],
        ['dead', { id: sampleId(3), sent_at: '2026-01-01 00:00:03', replayable: null }],
        ['retrying', { id: sampleId(4), sent_at: '2026-01-01 00:00:04', replayable: '1' }],
        ['retrying', { id: sampleId(5), sent_at: '2026-01-01 00:00:05', replayable: '1', execution_time: '2026-01-01 00:00:06' }],
        ['dead', { id: sampleId(6), sent_at: null, exception_message: null }],
      ],
    ),
  },
});
