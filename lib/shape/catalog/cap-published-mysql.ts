import { defineShape } from '../define';
import { CAP, CAP_WARNINGS } from './parts/cap';

/** What an application sends through DotNetCore.CAP, on MySQL: the table's one name holds a dot. */
export const capPublishedMysql = defineShape({
  ...CAP,
  key: 'cap-published-mysql',
  label: 'CAP published messages (MySQL)',
  origin: 'DotNetCore.CAP (C#)',
  engines: ['mysql'],
  table: { table: 'cap.published' },
  match: { names: ['cap.published'], pattern: '\\.published$' },
  detect: {
    mustHave: ['Id', 'Version', 'Name', 'Content', 'Retries', 'Added', 'ExpiresAt', 'StatusName'],
    mustNotHave: ['Group'],
    signature: ['StatusName', 'ExpiresAt'],
    companions: ['cap.received'],
    caseless: true,
  },
  facts: { source: 'dotnetcore/CAP@e52b8508', verified: 'source', warnings: CAP_WARNINGS },
});
