import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
import { CAP, CAP_COMMON, CAP_ROWS, CAP_WARNINGS } from './parts/cap';

/** What an application has received through DotNetCore.CAP, per consumer group: the layout of what is sent, and the group. */
export const capReceived = defineShape({
  ...CAP,
  key: 'cap-received',
  label: 'CAP received messages',
  origin: 'DotNetCore.CAP (C#)',
  engines: ['postgres', 'mysql'],
  table: 'cap.received',
  match: { names: ['received', 'cap.received'], pattern: '\\.received$' },
  family: 'inbox',
  // The consumer group is where a received message goes.
  columns: { ...CAP.columns, topic: 'Group' },
  detect: {
    mustHave: ['Id', 'Version', 'Name', 'Group', 'Content', 'Retries', 'Added', 'ExpiresAt', 'StatusName'],
    signature: ['StatusName', 'ExpiresAt'],
    companions: ['published'],
    caseless: true,
  },
  facts: { source: 'dotnetcore/CAP@e52b8508', verified: 'source', warnings: CAP_WARNINGS },
  sample: {
    table: { mysql: { table: 'cap.received' } },
    ddl: {
      postgres: [
        'CREATE SCHEMA cap',
        `CREATE TABLE cap.received (
           "Id" bigint PRIMARY KEY, "Version" varchar(20) NOT NULL, "Name" varchar(200) NOT NULL, "Group" varchar(200), "Content" text,
           "Retries" int NOT NULL, "Added" timestamp NOT NULL, "ExpiresAt" timestamp, "StatusName" varchar(50) NOT NULL)`,
        'CREATE INDEX ON cap.received ("ExpiresAt", "StatusName")',
        'CREATE INDEX ON cap.received ("Version", "ExpiresAt", "StatusName")',
      ],
      mysql: [
        `CREATE TABLE \`cap.received\` (
           Id bigint PRIMARY KEY, Version varchar(20), Name varchar(400) NOT NULL, \`Group\` varchar(200), Content longtext, Retries int,
           Added datetime NOT NULL, ExpiresAt datetime, StatusName varchar(50) NOT NULL,
           INDEX (Version, ExpiresAt, StatusName), INDEX (ExpiresAt, StatusName))`,
      ],
    },
    rows: sampleRows({ ...CAP_COMMON, Group: 'billing' }, CAP_ROWS),
  },
});
