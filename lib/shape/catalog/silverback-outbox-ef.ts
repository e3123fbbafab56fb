import { defineShape, names } from '../define';
import { SILVERBACK } from './parts/silverback';

/** Silverback's outbox through Entity Framework; the table is called what the application calls its set. */
export const silverbackOutboxEf = defineShape({
  ...SILVERBACK,
  key: 'silverback-outbox-ef',
  label: 'Silverback outbox (Entity Framework)',
  origin: 'Silverback (C#)',
  engines: ['postgres', 'mysql'],
  table: 'SilverbackOutboxMessage',
  match: { names: ['SilverbackOutboxMessages', 'outbox'] },
  columns: { id: 'Id', sequence: 'Id', topic: 'EndpointName', createdAt: 'Created', payload: 'Content', headers: 'Headers' },
  detect: {
    mustHave: names('Id Content Headers EndpointName DynamicEndpoint Created'),
    signature: ['EndpointName', 'DynamicEndpoint'],
    caseless: true,
    underscoreless: true,
  },
  facts: { source: 'BEagle1984/silverback@471f4cfa', verified: 'source', warnings: ['head_of_line'] },
});
