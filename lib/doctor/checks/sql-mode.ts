import type { Check } from '../check';

/** The server cuts values that do not fit instead of refusing them: half a payload is written, and nobody is told. */
export const sqlModeCheck: Check = {
  id: 'sql_mode',
  engines: ['mysql'],
  examine: ({ facts: { innodb } }) =>
    innodb === null || innodb.strict
      ? []
      : [{ severity: 'act', values: {}, cure: `SET GLOBAL sql_mode = CONCAT(@@GLOBAL.sql_mode, ',STRICT_TRANS_TABLES');` }],
};
