import type { Check, Patient } from '../check';
import { statusColumns } from '../state-columns';

/** Rows whose status differs from a rule's word in case alone: the relay's comparison takes them, the console's does not. */
export const statusCaseCheck: Check = {
  id: 'status_case',
  engines: ['mysql'],
  examine(patient) {
    const rows = caseOnly(patient);
    if (rows.length === 0) return [];
    const events = rows.reduce((sum, row) => sum + row.rows, 0);
    return [{ severity: 'act', values: { values: rows.map(({ value }) => `“${value}”`).join(', '), events } }];
  },
};

/** Unmapped values that a column without regard to case holds to be one of a rule's words. */
function caseOnly({ outbox, facts }: Patient): { value: string; rows: number }[] {
  const words = [...statusColumns(outbox.shape)].flatMap(([column, named]) =>
    facts.main.columns.get(column)?.caseless === true ? [...named].map((word) => word.toLowerCase()) : [],
  );
  return facts.rows.unmapped.values.filter(({ value }) => words.includes(value.toLowerCase()));
}
