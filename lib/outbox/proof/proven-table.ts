import { type ColumnDescription, type TableDescription, type TableRules } from '@/lib/database/description';

/** A table that our tests run operations on: the kinds of its columns, and the triggers that may alter what is written. */
export interface ProvenTable {
  columns: Record<string, ColumnDescription['kind'] | 'generated'>;
  triggers: string[];
}

/** What of a table counts when another one is compared with it. */
export function provenTable(description: TableDescription, rules: TableRules | null): ProvenTable {
  return {
    columns: Object.fromEntries(
      [...description.columns.values()].map((column) => [column.name, column.generated ? 'generated' : column.kind]),
    ),
    triggers: (rules?.triggers ?? []).filter(({ enabled, timing }) => enabled && timing !== 'after').map(({ name }) => name),
  };
}
