import { NOW, defineShape, exact, is, names } from '../define';
import { OWNED, WOLVERINE_NODES, WOLVERINE_RELEASE } from './parts/wolverine';

const INCOMING = is('status', 'Incoming');
const NOBODYS = is('owner_id', 0);

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
    publishedAt: { column: 'keep_until', minus: { parameter: 'keptAfterHandling' }, when: is('status', 'Handled') },
    availableAt: 'execution_time',
    lockedBy: 'owner_id',
    attempts: 'attempts',
    payload: 'body',
  },
  states: [
    { state: 'published', label: 'Handled', when: is('status', 'Handled') },
    { state: 'pending', label: 'Scheduled', when: is('status', 'Scheduled') },
    { state: 'pending', label: 'Incoming', when: { all: [INCOMING, NOBODYS, is('attempts', 0)] } },
    { state: 'processing', label: 'Incoming', when: { all: [INCOMING, OWNED] } },
    { state: 'retrying', label: 'Incoming', when: { all: [INCOMING, NOBODYS] } },
  ],
  companions: WOLVERINE_NODES,
  parameters: { extra: { keptAfterHandling: { default: 300, unit: 's', what: 'KeepAfterMessageHandling' } } },
  claim: { visible: true },
  operations: {
    retry: [
      exact(
        'pending',
        { execution_time: NOW },
        { guard: is('status', 'Scheduled'), warnings: ['sends_ahead_of_schedule'], basis: 'inferred' },
      ),
      { from: ['retrying'], refuse: 'relay_retries_at_once' },
    ],
    requeue: { refuse: 'dead_letters_elsewhere' },
    release: WOLVERINE_RELEASE,
  },
  noArchive: 'library_cleans_up',
  cautions: { processing: ['may_already_be_out'] },
  payload: { encoding: 'bytes', warn: 'binary_envelope' },
  detect: {
    mustHave: names('id status owner_id execution_time body message_type received_at keep_until'),
    signature: ['owner_id', 'keep_until'],
    types: { received_at: 'text' },
    companions: ['wolverine_outgoing_envelopes'],
  },
  facts: { source: 'JasperFx/wolverine@a4b6f5bd', verified: 'source', warnings: ['binary_envelope'] },
});
