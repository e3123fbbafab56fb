import { defineShape, names } from '../define';
import { CAP, CAP_FACTS } from './parts/cap';

/** What an application sends through DotNetCore.CAP, on PostgreSQL: sent from memory after the commit, from here when that failed. */
export const capPublishedPg = defineShape({
  ...CAP,
  key: 'cap-published-pg',
  label: 'CAP published messages (PostgreSQL)',
  engines: ['postgres'],
  table: 'cap.published',
  match: { names: ['published'] },
  detect: {
    mustHave: names('Id Version Name Content Retries Added ExpiresAt StatusName'),
    mustNotHave: ['Group'],
    signature: ['StatusName', 'ExpiresAt'],
    companions: ['received'],
    caseless: true,
  },
  facts: CAP_FACTS,
});
