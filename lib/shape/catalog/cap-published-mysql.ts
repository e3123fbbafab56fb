import { defineShape, names } from '../define';
import { CAP, CAP_FACTS } from './parts/cap';

/** What an application sends through DotNetCore.CAP, on MySQL: the table's one name holds a dot. */
export const capPublishedMysql = defineShape({
  ...CAP,
  key: 'cap-published-mysql',
  label: 'CAP published messages (MySQL)',
  engines: ['mysql'],
  table: { table: 'cap.published' },
  match: { names: ['cap.published'], pattern: '\\.published$' },
  detect: {
    mustHave: names('Id Version Name Content Retries Added ExpiresAt StatusName'),
    mustNotHave: ['Group'],
    signature: ['StatusName', 'ExpiresAt'],
    companions: ['cap.received'],
    caseless: true,
  },
  facts: CAP_FACTS,
});
