import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
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
    mustHave: ['id', 'content', 'headers', 'endpointname', 'created'],
    mustNotHave: ['dynamicendpoint'],
    types: { content: 'bytea' },
    caseless: true,
  },
  facts: { source: 'BEagle1984/silverback@471f4cfa', verified: 'source', warnings: ['head_of_line'] },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE "SilverbackOutbox" (
           id serial PRIMARY KEY, content bytea, headers text, endpointname text NOT NULL, created timestamptz NOT NULL)`,
      ],
    },
    rows: sampleRows({ content: '{"orderId":1}', headers: '[{"Name":"x-tenant","Value":"a"}]', endpointname: 'orders' }, [
      ['pending', { id: 1, created: '2026-01-01 00:00:01' }],
      ['pending', { id: 2, created: '2026-01-01 00:00:02', endpointname: 'payments' }],
      // A tombstone: nothing is the message.
      ['pending', { id: 3, created: '2026-01-01 00:00:03', content: null }],
      ['pending', { id: 4, created: '2026-01-01 00:00:03', headers: null }],
      ['pending', { id: 5, created: '2026-01-01 00:00:05' }],
      ['pending', { id: 2_147_483_647, created: '2026-01-01 00:00:06' }],
    ]),
  },
});
