/** Shared by Wolverine's tables: rows belong to a node by its number; 0 means no node. */
import { above, byWord, refused, defineShape, exact, is, names, NOW, bySource, namedAsRole } from '../define';
import type { ShapeInput } from '../shape';

const WOLVERINE = {
  origin: 'Wolverine (C#)',
  engines: ['postgres', 'mysql'],
  payload: { encoding: 'bytes', warn: 'binary_envelope' },
  facts: bySource('JasperFx/wolverine@a4b6f5bd', 'binary_envelope'),
} satisfies Partial<ShapeInput>;

const OWNED = { not: is('owner_id', 0) } satisfies ShapeInput['rows'];

/** Live nodes; a node that has left is removed from this table. */
const WOLVERINE_NODES = {
  owner: { table: 'wolverine_nodes', on: { node_number: 'owner_id' }, purpose: 'instances', optional: true },
  nodes: { table: 'wolverine_nodes', purpose: 'instances', optional: true },
} satisfies ShapeInput['companions'];

/** The table of nodes must exist and not be empty: an owner that cannot be checked may be alive. */
const OWNER_GONE = { all: [{ exists: { companion: 'nodes' } }, { not: { exists: { companion: 'owner' } } }] };

/** What the library itself writes after a node has left: its rows belong to no node. */
const WOLVERINE_RELEASE = [
  exact('processing', { owner_id: 0 }, { guard: OWNER_GONE, warnings: ['may_already_be_out'], basis: 'mirrors_library' }),
];

/** Wolverine's outgoing envelopes: a row belongs to the node that sends it (0: any node may take it) and is deleted when sent. */
export const wolverineOutgoing = defineShape({
  ...WOLVERINE,
  key: 'wolverine-outgoing',
  label: 'Wolverine outgoing envelopes',
  table: 'wolverine_outgoing_envelopes',
  kind: 'presence',
  columns: {
    ...namedAsRole('id', 'attempts'),
    type: 'message_type',
    topic: 'destination',
    // Exists only if OutboxStaleTime is configured.
    createdAt: { column: 'timestamp', optional: true },
    lockedBy: 'owner_id',
    payload: 'body',
  },
  states: [
    { state: 'processing', label: 'owned', when: OWNED },
    { state: 'retrying', when: above('attempts', 0) },
    { state: 'pending', when: { always: true } },
  ],
  companions: WOLVERINE_NODES,
  operations: { ...refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters' }), release: WOLVERINE_RELEASE },
  archive: { from: ['pending', 'retrying'], warnings: ['relay_may_be_sending'] },
  cautions: { processing: ['may_already_be_out'] },
  detect: {
    mustHave: names('id owner_id destination deliver_by body attempts message_type'),
    signature: ['owner_id', 'deliver_by'],
    companions: ['wolverine_incoming_envelopes', 'wolverine_dead_letters', 'wolverine_nodes'],
  },
});

const AHEAD = ['sends_ahead_of_schedule'];
const INCOMING = is('status', 'Incoming');
const NOBODYS = is('owner_id', 0);

/** Wolverine's incoming envelopes, and all scheduled ones, outgoing ones included. */
export const wolverineIncoming = defineShape({
  ...WOLVERINE,
  key: 'wolverine-incoming',
  label: 'Wolverine incoming envelopes',
  table: 'wolverine_incoming_envelopes',
  family: 'inbox',
  kind: 'status',
  columns: {
    ...namedAsRole('id', 'attempts'),
    type: 'message_type',
    // The address it arrived at, despite its name.
    topic: 'received_at',
    createdAt: { column: 'timestamp', optional: true },
    publishedAt: { column: 'keep_until', minus: { parameter: 'keptAfterHandling' }, when: is('status', 'Handled') },
    availableAt: 'execution_time',
    lockedBy: 'owner_id',
    payload: 'body',
  },
  states: [
    ...byWord('status', { Handled: 'published', Scheduled: 'pending' }),
    { state: 'pending', label: 'Incoming', when: { all: [INCOMING, NOBODYS, is('attempts', 0)] } },
    { state: 'processing', label: 'Incoming', when: { all: [INCOMING, OWNED] } },
    { state: 'retrying', label: 'Incoming', when: { all: [INCOMING, NOBODYS] } },
  ],
  companions: WOLVERINE_NODES,
  parameters: { extra: { keptAfterHandling: { default: 300, unit: 's', what: 'KeepAfterMessageHandling' } } },
  operations: {
    retry: [
      exact('pending', { execution_time: NOW }, { guard: is('status', 'Scheduled'), warnings: AHEAD, basis: 'inferred' }),
      { from: ['retrying'], refuse: 'relay_retries_at_once' },
    ],
    requeue: { refuse: 'dead_letters_elsewhere' },
    release: WOLVERINE_RELEASE,
  },
  noArchive: 'library_cleans_up',
  cautions: { processing: ['may_already_be_out'] },
  detect: {
    mustHave: names('id status owner_id execution_time body message_type received_at keep_until'),
    signature: ['owner_id', 'keep_until'],
    types: { received_at: 'text' },
    companions: ['wolverine_outgoing_envelopes'],
  },
});

/** Envelopes Wolverine gave up. The library moves one marked as replayable back to the incoming ones, with its count at zero. */
export const wolverineDeadLetters = defineShape({
  ...WOLVERINE,
  key: 'wolverine-dead-letters',
  label: 'Wolverine dead letters',
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
  detect: {
    mustHave: names('id body message_type received_at exception_type exception_message sent_at replayable'),
    signature: ['replayable', 'exception_type'],
    types: { replayable: 'boolean' },
    companions: ['wolverine_incoming_envelopes'],
  },
});
