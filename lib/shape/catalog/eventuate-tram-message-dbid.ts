import { defineShape, names } from '../define';
import { EVENTUATE, EVENTUATE_WARNINGS } from './parts/eventuate';

/** Eventuate Tram's messages with ids of the database; the application's own id may be missing. */
export const eventuateTramMessageDbid = defineShape({
  ...EVENTUATE,
  key: 'eventuate-tram-message-dbid',
  label: 'Eventuate Tram messages (ids of the database)',
  origin: 'Eventuate Tram (Java)',
  engines: ['postgres', 'mysql'],
  table: 'eventuate.message',
  columns: { ...EVENTUATE.columns, id: 'dbid', sequence: 'dbid', dedupKey: 'id' },
  detect: {
    mustHave: names('dbid id destination headers payload published creation_time'),
    companions: ['received_messages'],
  },
  facts: { source: 'eventuate-foundation/eventuate-common@6de8d54d', verified: 'source', warnings: EVENTUATE_WARNINGS },
});
