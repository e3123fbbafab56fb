import { sampleId, sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
import { OWNED, WOLVERINE_NODES, WOLVERINE_NODES_DDL, WOLVERINE_RELEASE } from './parts/wolverine';

const INCOMING = { column: 'status', equals: 'Incoming' } as const;
const NOBODYS = { column: 'owner_id', equals: 0 } as const;

/** Wolverine's incoming envelopes, and those scheduled for later, outgoing ones included. */
export const wolverineIncoming = defineShape({
  key: 'wolverine-incoming',
  label: 'Wolverine incoming envelopes',
  origin: 'Wolverine (C#)',
  engines: ['postgres', 'mysql'],
  table: 'wolverine_incoming_envelopes',
  family: 'inbox',
  kind: 'status',
  columns: {
    id: 'id',
    type: 'message_type',
    // The address it came to: the name only looks like a time.
    topic: 'received_at',
    createdAt: { column: 'timestamp', optional: true },
    publishedAt: { column: 'keep_until', minus: { parameter: 'keptAfterHandling' }, when: { column: 'status', equals: 'Handled' } },
    availableAt: 'execution_time',
    lockedBy: 'owner_id',
    attempts: 'attempts',
    payload: 'body',
  },
  states: [
    { state: 'published', label: 'Handled', when: { column: 'status', equals: 'Handled' } },
    { state: 'pending', label: 'Scheduled', when: { column: 'status', equals: 'Scheduled' } },
    { state: 'pending', label: 'Incoming', when: { all: [INCOMING, NOBODYS, { column: 'attempts', equals: 0 }] } },
    { state: 'processing', label: 'Incoming', when: { all: [INCOMING, OWNED] } },
    { state: 'retrying', label: 'Incoming', when: { all: [INCOMING, NOBODYS] } },
  ],
  companions: WOLVERINE_NODES,
  parameters: { extra: { keptAfterHandling: { default: 300, unit: 's', what: 'KeepAfterMessageHandling' } } },
  claim: { visible: true },
  operations: {
    retry: [
      {
        from: ['pending'],
        version: 'exact',
        guard: { column: 'status', equals: 'Scheduled' },
        set: { execution_time: { now: true } },
        warnings: ['sends_ahead_of_schedule'],
        basis: 'inferred',
      },
      { from: ['retrying'], refuse: 'relay_retries_at_once' },
    ],
    requeue: { refuse: 'dead_letters_elsewhere' },
    release: WOLVERINE_RELEASE,
  },
  noArchive: 'library_cleans_up',
  cautions: { processing: ['may_already_be_out'] },
  payload: { encoding: 'bytes', warn: 'binary_envelope' },
  detect: {
    mustHave: ['id', 'status', 'owner_id', 'execution_time', 'body', 'message_type', 'received_at', 'keep_until'],
    signature: ['owner_id', 'keep_until'],
    types: { received_at: 'text' },
    companions: ['wolverine_outgoing_envelopes'],
  },
  facts: { source: 'JasperFx/wolverine@a4b6f5bd', verified: 'source', warnings: ['binary_envelope'] },
  sample: {
    ddl: {
      postgres: [
        ...WOLVERINE_NODES_DDL.postgres,
        `CREATE TABLE wolverine_incoming_envelopes (
           id uuid PRIMARY KEY, status text NOT NULL, owner_id int NOT NULL, execution_time timestamptz, attempts int DEFAULT 0,
           body bytea NOT NULL, message_type text NOT NULL, received_at text, keep_until timestamptz)`,
        'CREATE INDEX ON wolverine_incoming_envelopes (owner_id) WHERE owner_id <> 0',
      ],
      mysql: [
        ...WOLVERINE_NODES_DDL.mysql,
        `CREATE TABLE wolverine_incoming_envelopes (
           id char(36) PRIMARY KEY, status varchar(25) NOT NULL, owner_id int NOT NULL, execution_time datetime, attempts int DEFAULT 0,
           body longblob NOT NULL, message_type varchar(500) NOT NULL, received_at varchar(500), keep_until datetime, INDEX (owner_id))`,
      ],
    },
    rows: sampleRows(
      { status: 'Incoming', owner_id: 0, body: 'envelope', message_type: 'OrderPlaced', received_at: 'rabbitmq://queue/orders' },
      [
        ['pending', { id: sampleId(1) }],
        ['pending', { id: sampleId(2), status: 'Scheduled', execution_time: '2037-01-01 00:00:00' }],
        ['retrying', { id: sampleId(3), attempts: 2 }],
        ['processing', { id: sampleId(4), owner_id: 7 }],
        ['processing', { id: sampleId(5), owner_id: 1, attempts: 1, received_at: null }],
        ['published', { id: sampleId(6), status: 'Handled', keep_until: '2026-01-01 00:10:00' }],
        ['published', { id: sampleId(7), status: 'Handled', owner_id: 1, keep_until: '2026-01-01 00:11:00' }],
      ],
    ),
  },
});
