import { BOTH, DAY_MS, type Check } from '../check';
import { timeColumn } from '../facts/rows';
import { growthOf, nameOf } from '../trend';

const LEAST_ROWS = 10_000;
const GRAVE_ROWS = 10_000_000;
/** Published rows are kept 7 to 30 days; a purge that runs once a month is a purge. */
const KEPT_MS = 62 * DAY_MS;
const KEEP_DAYS = 30;

/** Published rows older than anybody keeps them: nothing takes them out, and the table only grows. */
export const retentionAbsentCheck: Check = {
  id: 'retention_absent',
  engines: BOTH,
  examine({ outbox, facts, trend, cures, now }) {
    const { main, rows } = facts;
    if (main.rows === null || main.rows < LEAST_ROWS) return [];
    const column = timeColumn(outbox.main, 'publishedAt') ?? timeColumn(outbox.main, 'createdAt');
    const remembered = column === null ? null : (main.columns.get(column)?.smallestSeen ?? null);
    const oldestMs =
      rows.oldestPublishedMs ?? (remembered === null || Number.isNaN(Date.parse(remembered)) ? null : now - Date.parse(remembered));
    if (oldestMs === null || oldestMs < KEPT_MS) return [];
    const id = outbox.main.id[0]?.name ?? 'id';
    const growth = growthOf(main, trend, now);
    const values = {
      table: nameOf(main),
      rows: main.rows,
      bytes: main.tableBytes + main.indexBytes,
      oldestMs,
      growthBytesPerDay: growth?.bytesPerDay ?? null,
      keepDays: KEEP_DAYS,
    };
    const published = timeColumn(outbox.main, 'publishedAt');
    return [
      {
        severity: main.rows >= GRAVE_ROWS ? 'watch' : 'note',
        values,
        // Without a time of publishing a purge has to know the states; that statement is the service's own to write.
        ...(published === null ? {} : { cure: cures.purge(main, id, published, KEEP_DAYS) }),
      },
    ];
  },
};
