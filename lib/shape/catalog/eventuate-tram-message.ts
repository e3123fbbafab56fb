import { defineShape, names } from '../define';
import { EVENTUATE, EVENTUATE_WARNINGS } from './parts/eventuate';

/** Eventuate Tram's messages with ids of the application: read by its CDC service from the log or, marked as published, by polling. */
export const eventuateTramMessage = defineShape({
  ...EVENTUATE,
  key: 'eventuate-tram-message',
  label: 'Eventuate Tram messages',
  origin: 'Eventuate Tram (Java)',
  engines: ['postgres', 'mysql'],
  table: 'eventuate.message',
  detect: {
    mustHave: names('id destination headers payload published creation_time'),
    mustNotHave: ['dbid'],
    types: { creation_time: 'bigint' },
    companions: ['received_messages', 'offset_store', 'cdc_monitoring'],
  },
  facts: { source: 'eventuate-foundation/eventuate-common@6de8d54d', verified: 'source', warnings: EVENTUATE_WARNINGS },
});
