import { defineShape, exact, names } from '../define';

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
    requeue: [exact('dead', { replayable: true }, { basis: 'official' })],
    release: { refuse: 'not_claimed' },
  },
  archive: { from: ['dead'] },
  payload: { encoding: 'bytes', warn: 'binary_envelope' },
  detect: {
    mustHave: names('id body message_type received_at exception_type exception_message sent_at replayable'),
    signature: ['replayable', 'exception_type'],
    types: { replayable: 'boolean' },
    companions: ['wolverine_incoming_envelopes'],
  },
  facts: { source: 'JasperFx/wolverine@a4b6f5bd', verified: 'source', warnings: ['binary_envelope'] },
});
