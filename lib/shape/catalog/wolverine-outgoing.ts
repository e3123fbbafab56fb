import { above, defineShape, names } from '../define';
import { OWNED, WOLVERINE_NODES, WOLVERINE_RELEASE } from './parts/wolverine';

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
    { state: 'retrying', when: above('attempts', 0) },
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
    mustHave: names('id owner_id destination deliver_by body attempts message_type'),
    signature: ['owner_id', 'deliver_by'],
    companions: ['wolverine_incoming_envelopes', 'wolverine_dead_letters', 'wolverine_nodes'],
  },
  facts: { source: 'JasperFx/wolverine@a4b6f5bd', verified: 'source', warnings: ['binary_envelope'] },
});
