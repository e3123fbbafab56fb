import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
import { CAP, CAP_COMMON, CAP_ROWS, CAP_WARNINGS } from './parts/cap';

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
  sample: {
    ddl: {
      postgres: [
        'CREATE SCHEMA cap',
        `CREATE TABLE cap.published (
           "Id" bigint PRIMARY KEY, "Version" varchar(20) NOT NULL, "Name" varchar(200) NOT NULL, "Content" text, "Retries" int NOT NULL,
           "Added" timestamp NOT NULL, "ExpiresAt" timestamp, "StatusName" varchar(50) NOT NULL)`,
        'CREATE INDEX ON cap.published ("ExpiresAt", "StatusName")',
        'CREATE INDEX ON cap.published ("Version", "ExpiresAt", "StatusName")',
      ],
    },
    rows: sampleRows(CAP_COMMON, CAP_ROWS),
  },
});
