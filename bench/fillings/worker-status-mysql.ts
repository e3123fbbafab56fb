import { workerStatusTable } from '@/demo/schema/worker-status';
import { numbersTo } from '@/scripts/testing/mysql';
import { EVENT_TYPES, HISTORY_DAYS, PROCESSING_ROWS, WAITING_ROWS } from './filling';

/** Rows of one statement. */
const BATCH = 500_000;

export const WORKER_TABLE = 'outbox_events';

/** The table of the order service where it is at home, as it ships: its key, and nothing else to find rows by. */
export const WORKER_DDL = workerStatusTable(true, 'mysql').ddl;

/** Statements that insert `rows` events of thirty days ending at `endsAt` (`YYYY-MM-DD hh:mm:ss` UTC), keys in the order of creation. */
export function loadWorkerStatus(rows: number, endsAt: string): string[] {
  const statements: string[] = [];
  for (let from = 0; from < rows; from += BATCH) {
    const i = `(${from} + n)`;
    const created = `timestamp('${endsAt}') - interval round(${HISTORY_DAYS * 86_400} * (${rows} - i) / ${rows}) second`;
    // Times have whole seconds here: most events are published in the second they were made, a few in an outage.
    const published = `created + interval if(u < 0.004, 60 + round(600 * v), round(2.4 * pow(v, 6))) second`;
    statements.push(
      `insert into ${WORKER_TABLE} (event_type, payload, created_at, processed_at, status, updated_at)
       select concat('type.', lpad(floor(${EVENT_TYPES} * pow(u2, 2.5)), 2, '0')),
         concat('{"orderId":"order-', i div 4, '","amount":"', i % 90000, '.50","currency":"KRW","customer":{"id":', i % 50000, ',"email":"customer', i % 50000, '@example.com"},"note":"', md5(i), md5(i + 1), '"}'),
         created, if(i <= ${rows - WAITING_ROWS}, ${published}, null),
         if(i <= ${rows - WAITING_ROWS}, 'PROCESSED', if(i <= ${rows - WAITING_ROWS + PROCESSING_ROWS}, 'PROCESSING', 'PENDING')),
         if(i <= ${rows - WAITING_ROWS}, ${published}, created)
       from (select i, ${created} as created, rand(i) as u, rand(i + 7) as v, rand(i + 13) as u2
         from (select ${i} as i from ${numbersTo(Math.min(BATCH, rows - from), 'numbered')}) as counted) as event
       order by i`,
    );
  }
  return statements;
}
