import { BOTH, type Check, type Patient } from '../check';
import { decidingColumn, statusColumns } from '../state-columns';

const SHOWN = 8;

/** Rows whose state no rule names: they are in no figure, and nobody knows whether a relay takes them. */
export const unmappedStatusCheck: Check = {
  id: 'unmapped_status',
  engines: BOTH,
  examine(patient) {
    const { rows, main } = patient.facts;
    const caseless = [...statusColumns(patient.outbox.shape)].flatMap(([column, named]) =>
      main.columns.get(column)?.caseless === true ? [...named].map((word) => word.toLowerCase()) : [],
    );
    // Those that differ in case alone have a check of their own.
    const unnamed = rows.unmapped.values.filter(({ value }) => !caseless.includes(value.toLowerCase()));
    const seen = new Map(unnamed.map(({ value, rows: count }) => [value, count]));
    for (const { value, share } of remembered(patient)) if (!seen.has(value)) seen.set(value, Math.round(share * (main.rows ?? 0)));
    if (seen.size === 0) return [];
    const events = [...seen.values()].reduce((sum, count) => sum + count, 0);
    const values = [...seen.keys()]
      .slice(0, SHOWN)
      .map((value) => `“${value}”`)
      .join(', ');
    return [{ severity: 'act', values: { values, kinds: seen.size, events, looked: rows.unmapped.looked } }];
  },
};

/** Frequent values of a status column that no rule names; only where one column alone decides. */
function remembered({ outbox, facts }: Patient): { value: string; share: number }[] {
  const deciding = decidingColumn(outbox.shape);
  if (deciding === null) return [];
  const { column, named } = deciding;
  const known = facts.main.columns.get(column);
  const same = (value: string): string => (known?.caseless === true ? value.toLowerCase() : value);
  const names = new Set([...named].map(same));
  const nothing = known === undefined || known.nullShare === 0 ? [] : [{ value: 'NULL', share: known.nullShare }];
  return [...nothing, ...(known?.frequent ?? []).filter(({ value }) => !names.has(same(value)))];
}
