import { defineShape, names } from '../define';
import { SILVERBACK } from './parts/silverback';

/** Silverback's outbox in its own PostgreSQL storage. */
export const silverbackOutboxPg = defineShape({
  ...SILVERBACK,
  key: 'silverback-outbox-pg',
  label: 'Silverback outbox (PostgreSQL)',
  origin: 'Silverback (C#)',
  engines: ['postgres'],
  table: 'SilverbackOutbox',
  columns: { id: 'id', sequence: 'id', topic: 'endpointname', createdAt: 'created', payload: 'content', headers: 'headers' },
  detect: {
    mustHave: names('id content headers endpointname created'),
    mustNotHave: ['dynamicendpoint'],
    types: { content: 'bytea' },
    caseless: true,
  },
  facts: { source: 'BEagle1984/silverback@471f4cfa', verified: 'source', warnings: ['head_of_line'] },
});
