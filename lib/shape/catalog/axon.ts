/** Shared by all stores of Axon's sequenced dead-letter queue. Every row is dead; only the application can process it. */
import { defineShape, names, byPart, bySource, refused } from '../define';
import type { ShapeInput } from '../shape';

const AXON = {
  origin: 'Axon Framework (Java)',
  engines: ['postgres', 'mysql'],
  family: 'dead_letters',
  kind: 'presence',
  parameters: { extra: { claimDuration: { default: 30, unit: 's', what: 'How long a letter is claimed for' } } },
  operations: refused({ retry: 'app_must_resubmit', requeue: 'app_must_resubmit', release: 'claim_lapses' }),
  noArchive: 'sequence_would_tear',
  payload: { encoding: 'bytes', warn: 'binary_envelope' },
} satisfies Partial<ShapeInput>;

/** A row is `processing` while its claim is younger than `claimDuration`, otherwise dead. */
function axonStates(claimedAt: string): ShapeInput['states'] {
  return [
    {
      state: 'processing',
      label: 'claimed',
      when: { all: [{ column: claimedAt, isNull: false }, { not: { column: claimedAt, olderThan: { parameter: 'claimDuration' } } }] },
    },
    { state: 'dead', when: { always: true } },
  ];
}

/** Axon's dead letters through JDBC: every time is an ISO 8601 text. */
export const axonDeadLetterJdbc = defineShape({
  ...AXON,
  key: 'axon-dead-letter-jdbc',
  label: 'Axon dead letters (JDBC)',
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
    mustHave: names('deadLetterIdentifier processingGroup sequenceIdentifier sequenceIndex enqueuedAt processingStarted causeType'),
    signature: ['deadLetterIdentifier', 'processingGroup'],
  },
  facts: bySource('AxonFramework/AxonFramework@12d46f6a', 'binary_envelope'),
});

/** Axon's dead letters through JPA, named by Spring's naming strategy. */
export const axonDeadLetterJpa = defineShape({
  ...AXON,
  key: 'axon-dead-letter-jpa',
  label: 'Axon dead letters (JPA)',
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
    mustHave: names('dead_letter_id processing_group payload_type enqueued_at processing_started cause_type cause_message'),
    signature: ['dead_letter_id', 'processing_group'],
  },
  facts: byPart('AxonFramework/AxonFramework@0570466f', 'binary_envelope', 'payload_may_be_elsewhere', 'library_partly_read'),
});
