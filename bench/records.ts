import { applyInstall } from '@/lib/interventions/install/install';
import { LINE_OUTBOX } from '@/lib/outbox/companions';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Bench } from './bench';
import { publishedAtFilling } from './fillings/published-at';
import { openDirectory, OUTBOX_ID, PAGE_ROWS } from './product';
import { READS, type Read, type Spots } from './reads';
import { median } from './support/figures';
import { executedDuring, scansOf } from './support/plans';
import { repeated } from './support/repeated';
import type { BenchServer } from './support/server';

const RECORDS = 50_000;
/** Pages of the list itself, and beyond them of each row whose records are counted. */
const LIST_PAGES = 60;
const PAGES_PER_ROW = 4;
/** An outbox that is configured in the same database on another table. */
const OTHER = 'other';

const LISTS: readonly Read[] = READS.filter(({ name }) => ['newest, page 1', 'waiting, page 1', 'dead, page 1'].includes(name));

interface Measured {
  read: string;
  buffers: Record<'without' | 'one' | 'several', number>;
  scans: string[];
}

export const recordsBench: Bench = {
  name: 'records',
  about: 'what counting in the records adds to a list, in pages touched',
  rows: [100_000],
  async run({ server, databases, rows }) {
    const [size = 100_000] = rows;
    const database = await databases.filled(publishedAtFilling, size);
    const directory = openDirectory(server.url(database.name, 'console'), publishedAtFilling.shape, publishedAtFilling.table);
    try {
      const bare = await directory.get(OUTBOX_ID);
      await applyInstall(bare, server.superuserUrl(database.name));
      for (const statement of FILL) await server.query(database.name, statement);
      directory.forget(OUTBOX_ID);
      const outbox = await directory.get(OUTBOX_ID);
      if (outbox.records !== 'countable') throw new Error(`The records are ${outbox.records}`);
      const measured: Measured[] = [];
      for (const read of LISTS) {
        const without = await pages(server, read, bare);
        const one = await pages(server, read, outbox);
        const several = await pages(server, read, { ...outbox, elsewhere: [OTHER] });
        measured.push({
          read: read.name,
          buffers: { without: without.buffers, one: one.buffers, several: several.buffers },
          scans: one.scans,
        });
      }
      const added = (more: number, less: number): number => (more - less) / PAGE_ROWS;
      return {
        tables: [
          {
            title: 'Counting in the records',
            columns: ['list', 'buffers without', 'with', 'a row', 'with several tables', 'a row', 'by'],
            rows: measured.map(({ read, buffers: { without, one, several }, scans }) => [
              read, without, one, added(one, without), several, added(several, without), scans.join(', '),
            ]), // prettier-ignore
          },
        ],
        budgets: measured.flatMap(({ read, buffers }) =>
          (['one', 'several'] as const).map((tables) => ({
            name: `${read}, ${RECORDS.toLocaleString('en-US')} records, ${tables === 'one' ? 'one table' : 'several tables'}`,
            promise: 'beyond the list, pages a row whose records are counted',
            measured: (buffers[tables] - LIST_PAGES) / PAGE_ROWS,
            limit: PAGES_PER_ROW,
            unit: 'buffers a row',
          })),
        ),
        notes: [
          `${RECORDS.toLocaleString('en-US')} interventions of one event each: every waiting and every dead event was operated on once, so that none is cheaper.`,
          'Several tables: another outbox is configured in the same database on another table, and each line tells under which name it was written.',
        ],
      };
    } finally {
      await directory.close();
      // Whoever measures this table next finds it as it was shipped.
      await databases.drop(database.name);
    }
  },
};

const FILL = [
  `INSERT INTO outbox_console.intervention (id, outbox, actor_id, actor_name, actor_role, key, request_hash, operation, reason, at)
    SELECT uuidv7(i * interval '1 s' - interval '1 day'), '${OUTBOX_ID}', 'account:1', 'anna@example.com', 'operator', i::text, md5(i::text), 'requeue', 'the broker is back', now() - interval '1 day' + i * interval '1 s'
    FROM generate_series(1, ${RECORDS}) AS i`,
  `INSERT INTO outbox_console.intervention_event (intervention_id, position, event_id, event_type, aggregate_id, detail, before, after)
    SELECT h.id, 0, e.id::text, 'order.created', 'order-1', '{"${LINE_OUTBOX}": "${OUTBOX_ID}"}', '{"attempt": "3", "published_at": null}', '{"attempt": "0", "published_at": null}'
    FROM (SELECT id, row_number() OVER () AS n FROM outbox_console.intervention) AS h
    JOIN (SELECT id, row_number() OVER () AS n FROM (SELECT id FROM outbox_dead UNION ALL (SELECT id FROM outbox_events ORDER BY published_at DESC NULLS FIRST LIMIT ${RECORDS})) AS every) AS e USING (n)`,
  `UPDATE outbox_console.intervention SET outcome = 'applied'`,
  'VACUUM (ANALYZE) outbox_console.intervention',
  'VACUUM (ANALYZE) outbox_console.intervention_event',
];

async function pages(server: BenchServer, read: Read, outbox: Outbox): Promise<{ buffers: number; scans: string[] }> {
  const runs = await repeated(() => executedDuring(server, ['console'], () => read.run(outbox, {} as Spots)));
  return {
    buffers: median(runs.map((run) => run.reduce((sum, { buffers }) => sum + buffers, 0))),
    scans: [...new Set((runs.at(-1) ?? []).flatMap(({ plan }) => scansOf(plan)))],
  };
}
