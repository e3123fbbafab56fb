import { defineShape, names } from '../define';
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
    mustHave: names('deadLetterIdentifier processingGroup sequenceIdentifier sequenceIndex enqueuedAt processingStarted causeType'),
    signature: ['deadLetterIdentifier', 'processingGroup'],
    caseless: true,
  },
  facts: { source: 'AxonFramework/AxonFramework@12d46f6a', verified: 'source', warnings: ['binary_envelope'] },
});
