/** What a table has to guarantee as an outbox: no unnoticed repeats, no lost events, and none kept for ever. */
import { timeColumn } from '@/lib/outbox/scan/traits';
import type { Checks } from './check';
import { KEEP_DAYS } from './facts/old-rows';
import { DAY_MS, nameOf, tablesOf, type IndexFacts } from './facts/facts';
import { growthOf } from './samples';

const RETENTION_ROWS = 10_000;
const GRAVE_ROWS = 10_000_000;
/** Published rows are usually kept 7 to 30 days, and a purge may run once a month. */
const KEPT_MS = 62 * DAY_MS;
const GROWN_BYTES = 32 * 1_048_576;
/** Growing by half within this time is fast. */
const SOON_DAYS = 14;

const keepsUnique = ({ unique, valid, predicate }: IndexFacts): boolean => unique && valid && predicate === null;

export const TABLE_CHECKS: Checks = {
  /** Published rows beyond any usual retention: nothing deletes them, and the table only grows. */
  retention_absent({ outbox, facts, samples, fixes, now }) {
    const { main, rows, old } = facts;
    if (main.rows === null || main.rows < RETENTION_ROWS) return [];
    const published = timeColumn(outbox.main, 'publishedAt');
    const smallest = Date.parse(main.columns.get(published ?? timeColumn(outbox.main, 'createdAt') ?? '')?.smallestSeen ?? '');
    const oldestMs = rows.oldestPublishedMs ?? now - smallest;
    if (!(oldestMs >= KEPT_MS)) return [];
    const size = { table: nameOf(main), rows: main.rows, bytes: main.tableBytes + main.indexBytes };
    const growthBytesPerDay = growthOf(main, samples, now)?.bytesPerDay ?? null;
    const purge = typeof old === 'string' ? old : 'statement';
    const values = { ...size, oldestMs, growthBytesPerDay, keepDays: KEEP_DAYS, purge };
    const cure = typeof old === 'string' ? null : fixes.purge(main, old.where);
    return [{ severity: main.rows >= GRAVE_ROWS ? 'watch' : 'note', values, cure }];
  },
  /** Table and indexes keep growing: more is inserted than deleted. */
  table_growing({ facts, samples, now }) {
    return tablesOf(facts).flatMap((table) => {
      const bytes = table.tableBytes + table.indexBytes;
      const growth = growthOf(table, samples, now);
      // No finding in the first three days, for a small table, or while growing by half takes longer than SOON_DAYS.
      if (growth === null || growth.overMs < 3 * DAY_MS || bytes < GROWN_BYTES || growth.bytesPerDay * SOON_DAYS < bytes / 2) return [];
      const { bytesPerDay: growthBytesPerDay, overMs } = growth;
      const values = { table: nameOf(table), bytes, growthBytesPerDay, overMs, inThirtyDaysBytes: bytes + 30 * growthBytesPerDay };
      return [{ severity: 'watch', subject: nameOf(table), values }];
    });
  },
  /** Events are delivered at least once: the key by which consumers recognize a repeat is missing, or not unique. */
  dedup_key({ outbox: { main, settings }, facts, fixes }) {
    const { dedupKey: key, createdAt } = main.roles;
    const [id] = main.id;
    if (main.description.kind !== 'table') return [];
    // A built-in shape without one is how its library works: consumers use the id. A mapping of one's own can have one.
    if (key === undefined)
      return settings.inline && id?.kind === 'integer' ? [{ severity: 'note', values: { column: null, id: id.name } }] : [];
    const { name } = key.column;
    if (key.path.length > 0 || name === id?.name) return [];
    // Together with columns that differ from row to row, an index does not make the key unique.
    const anew = new Set([...main.id.map((column) => column.name), createdAt?.column.name]);
    const keeps = (index: IndexFacts): boolean =>
      keepsUnique(index) && index.columns.includes(name) && !index.columns.some((column) => column !== name && anew.has(column));
    if (facts.main.indexes.some(keeps)) return [];
    const cure = fixes.createIndex(facts.main, { purpose: 'dedup', columns: [name], tests: [], unique: true });
    return [{ severity: 'watch', subject: name, values: { column: name, id: id?.name ?? null }, cure }];
  },
  /** No unique key: two rows can have one id, and no change can be sure to touch only one. */
  unique_id({ outbox: { main }, facts, fixes }) {
    const names = main.id.map((column) => column.name);
    if (names.length === 0 || main.description.kind !== 'table') return [];
    if (facts.main.indexes.some((index) => keepsUnique(index) && names.some((name) => index.columns.includes(name)))) return [];
    // Partitions share no unique key without the partitioning columns.
    const columns = [...new Set([...names, ...(main.description.partitions?.key ?? [])])];
    const cure = columns.includes('') ? null : fixes.createIndex(facts.main, { purpose: 'id', columns, tests: [], unique: true });
    const values = { table: nameOf(facts.main), column: names.join(', '), rows: facts.main.rows };
    return [{ severity: 'act', subject: names.join(', '), values, cure }];
  },
  /** Deleting the row that an event refers to deletes the event, published or not, unnoticed by relay and records. */
  cascade_delete({ facts }) {
    return facts.cascades.map(({ table, key, from: other, drop: cure }) => {
      return { severity: 'watch', subject: `${table} ${key}`, values: { table, key, other }, cure };
    });
  },
  /** The server empties the table after a crash: events whose transactions were committed are gone. */
  unlogged_table({ facts }) {
    return tablesOf(facts).flatMap((table) => {
      const names = table.vacuum?.unlogged ?? [];
      if (names.length === 0) return [];
      const cure = names.map((name) => `ALTER TABLE ${name} SET LOGGED;`).join('\n');
      return [{ severity: 'act', subject: nameOf(table), values: { table: nameOf(table), rows: table.rows }, cure }];
    });
  },
  /** The table takes no part in transactions: an event stays when the business change it belongs to is rolled back. */
  storage_engine({ facts }) {
    return tablesOf(facts).flatMap((table) => {
      if (table.storage === null || table.storage.transactional) return [];
      const values = { table: nameOf(table), storage: table.storage.name };
      return [{ severity: 'act', subject: nameOf(table), values, cure: `ALTER TABLE ${table.quoted} ENGINE=InnoDB;` }];
    });
  },
};
