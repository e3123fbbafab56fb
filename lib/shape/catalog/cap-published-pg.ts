import { defineShape } from '../define';
import { CAP, CAP_WARNINGS } from './parts/cap';

/** What an application sends through DotNetCore.CAP, on PostgreSQL: sent from memory after the commit, from here when that failed. */
export const capPublishedPg = defineShape({
  ...CAP,
  key: 'cap-published-pg',
  label: 'CAP published messages (PostgreSQL)',
  origin: 'DotNetCore.CAP (C#)',
  engines: ['postgres'],
  table: 'cap.published',
  match: { names: ['published'] },
  detect: {
    mustHave: ['Id', 'Version', 'Name', 'Content', 'Retries', 'Added', 'ExpiresAt', 'StatusName'],
    mustNotHave: ['Group'],
    signature: ['StatusName', 'ExpiresAt'],
    companions: ['received'],
    caseless: true,
  },
  facts: { source: 'dotnetcore/CAP@e52b8508', verified: 'source', warnings: CAP_WARNINGS },
});
