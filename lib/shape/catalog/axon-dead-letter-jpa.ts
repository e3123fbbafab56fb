import { defineShape, names } from '../define';
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
    mustHave: names('dead_letter_id processing_group payload_type enqueued_at processing_started cause_type cause_message'),
    signature: ['dead_letter_id', 'processing_group'],
  },
  facts: {
    source: 'AxonFramework/AxonFramework@0570466f',
    verified: 'partial',
    warnings: ['binary_envelope', 'payload_may_be_elsewhere', 'library_partly_read'],
  },
});
