import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
import { CAP, CAP_COMMON, CAP_ROWS, CAP_WARNINGS } from './parts/cap';

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
  sample: {
    ddl: {
      mysql: [
        `CREATE TABLE \`cap.published\` (
           Id bigint PRIMARY KEY, Version varchar(20), Name varchar(200) NOT NULL, Content longtext, Retries int,
           Added datetime NOT NULL, ExpiresAt datetime, StatusName varchar(40) NOT NULL,
           INDEX (Version, ExpiresAt, StatusName), INDEX (ExpiresAt, StatusName))`,
      ],
    },
    rows: sampleRows(CAP_COMMON, CAP_ROWS),
  },
});
