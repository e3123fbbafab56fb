import { sampleId, sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
import { OWNED, WOLVERINE_NODES, WOLVERINE_NODES_DDL, WOLVERINE_RELEASE } from './parts/wolverine';

/** Wolverine's outgoing envelopes: a row belongs to the node that sends it, is deleted when it is out, and 0 owns what anybody may take. */
export const wolverineOutgoing = defineShape({
  key: 'wolverine-outgoing',
  label: 'Wolverine outgoing envelopes',
  origin: 'Wolverine (C#)',
  engines: ['postgres', 'mysql'],
  table: 'wolverine_outgoing_envelopes',
  kind: 'presence',
  columns: {
    id: 'id',
    type: 'message_type',
    topic: 'destination',
    // There only where OutboxStaleTime is configured.
    createdAt: { column: 'timestamp', optional: true },
    lockedBy: 'owner_id',
    attempts: 'attempts',
    payload: 'body',
  },
  states: [
    { state: 'processing', label: 'owned', when: OWNED },
    { state: 'retrying', when: { column: 'attempts', above: 0 } },
    { state: 'pending', when: { always: true } },
  ],
  companions: WOLVERINE_NODES,
  claim: { visible: true },
  operations: {
    retry: { refuse: 'relay_retries_at_once' },
    requeue: { refuse: 'no_dead_letters' },
    release: WOLVERINE_RELEASE,
  },
  archive: { from: ['pending', 'retrying'], warnings: ['relay_may_be_sending'] },
  cautions: { processing: ['may_already_be_out'] },
  payload: { encoding: 'bytes', warn: 'binary_envelope' },
  detect: {
    mustHave: ['id', 'owner_id', 'destination', 'deliver_by', 'body', 'attempts', 'message_type'],
    signature: ['owner_id', 'deliver_by'],
    companions: ['wolverine_incoming_envelopes', 'wolverine_dead_letters', 'wolverine_nodes'],
  },
  facts: { source: 'JasperFx/wolverine@a4b6f5bd', verified: 'source', warnings: ['binary_envelope'] },
  sample: {
    ddl: {
      postgres: [
        ...WOLVERINE_NODES_DDL.postgres,
        `CREATE TABLE wolverine_outgoing_envelopes (
           id uuid PRIMARY KEY, owner_id int NOT NULL, destination text NOT NULL, deliver_by timestamptz, body bytea NOT NULL,
           attempts int DEFAULT 0, message_type text NOT NULL)`,
        'CREATE INDEX ON wolverine_outgoing_envelopes (owner_id) WHERE owner_id <> 0',
      ],
      mysql: [
        ...WOLVERINE_NODES_DDL.mysql,
        `CREATE TABLE wolverine_outgoing_envelopes (
           id char(36) PRIMARY KEY, owner_id int NOT NULL, destination varchar(500) NOT NULL, deliver_by datetime, body longblob NOT NULL,
           attempts int DEFAULT 0, message_type varchar(500) NOT NULL, INDEX (owner_id))`,
      ],
    },
    rows: sampleRows({ owner_id: 0, destination: 'rabbitmq://queue/orders', body: 'envelope', message_type: 'OrderPlaced' }, [
      ['pending', { id: sampleId(1) }],
      ['pending', { id: sampleId(2), attempts: null, deliver_by: '2026-01-01 00:00:00' }],
      ['retrying', { id: sampleId(3), attempts: 2 }],
      // Its node is gone: nobody sends it until it is released.
      ['processing', { id: sampleId(4), owner_id: 7 }],
      // Its node is alive.
      ['processing', { id: sampleId(5), owner_id: 1, attempts: 1 }],
      ['retrying', { id: sampleId(6), attempts: 9, destination: 'tcp://localhost:5555' }],
    ]),
  },
});
