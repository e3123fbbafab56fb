import { defineShape, names } from '../define';
import { CAP, CAP_FACTS } from './parts/cap';

/** What an application has received through DotNetCore.CAP, per consumer group: the layout of what is sent, and the group. */
export const capReceived = defineShape({
  ...CAP,
  key: 'cap-received',
  label: 'CAP received messages',
  engines: ['postgres', 'mysql'],
  table: 'cap.received',
  match: { names: ['received', 'cap.received'], pattern: '\\.received$' },
  family: 'inbox',
  // The consumer group is where a received message goes.
  columns: { ...CAP.columns, topic: 'Group' },
  detect: {
    mustHave: names('Id Version Name Group Content Retries Added ExpiresAt StatusName'),
    signature: ['StatusName', 'ExpiresAt'],
    companions: ['published'],
    caseless: true,
  },
  facts: CAP_FACTS,
});
