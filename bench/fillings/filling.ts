/**
 * Tables as a service leaves them after thirty days: 99.9 % published, the newest rows waiting, a few dead, written in a
 * few statements over generate_series. Ten times the rows are ten times the events of the same thirty days.
 */
export const HISTORY_DAYS = 30;
/** Rows not published yet: the newest ones. Of these, the oldest few have been tried. */
export const WAITING_ROWS = 700;
export const RETRYING_ROWS = 60;
export const PROCESSING_ROWS = 10;
export const DEAD_ROWS = 280;
export const EVENT_TYPES = 25;

/** A table of a shape and what fills it. */
export interface Filling {
  key: string;
  /** Of lib/shape/catalog. */
  shape: string;
  /** The service's own tables and indexes. */
  ddl: string[];
  table: string;
  /** Statements that insert `rows` events ending at `endsAt` (an SQL expression). */
  load(rows: number, endsAt: string): string[];
}

/** Milliseconds from creation to publishing: log-normal around 150 ms, p99 2.4 s, and every 250th in an outage. */
const LATENCY_MS = 'exp(random_normal(ln(150)::float8, 1.19)) + CASE WHEN random() < 0.004 THEN 60000 + random() * 600000 ELSE 0 END';

/**
 * The rows of the outbox in the order of creation: `i` from 1 to `rows`, `created`, `published` (NULL while waiting),
 * `type` (a few are frequent), `tried` (attempts), `aggregate`, `u` (a random number), `latency` in ms.
 */
export function eventRows(rows: number, endsAt: string): string {
  return `(SELECT i, created, latency, u, aggregate,
      CASE WHEN i <= ${rows} - ${WAITING_ROWS} THEN least(created + latency * interval '1 millisecond', ${endsAt}) END AS published,
      'type.' || to_char(floor(${EVENT_TYPES} * power(u, 2.5))::int, 'FM00') AS type,
      CASE WHEN i > ${rows} - ${WAITING_ROWS} AND i <= ${rows} - ${WAITING_ROWS} + ${RETRYING_ROWS} THEN 1 + i % 3 WHEN i <= ${rows} - ${WAITING_ROWS} AND u2 < 0.02 THEN 1 ELSE 0 END AS tried
    FROM (SELECT i, ${createdAt(rows, endsAt)} AS created, ${LATENCY_MS} AS latency, random() AS u, random() AS u2,
        'order-' || (i / 4 + (random() * 40)::int) AS aggregate FROM generate_series(1, ${rows}) AS i) AS drawn) AS event`;
}

/** Dead letters, spread over the history; columns as `eventRows`, and `died`. */
export function deadRows(endsAt: string): string {
  return `(SELECT i, created, created + interval '90 seconds' AS died, 'type.' || to_char(i % ${EVENT_TYPES}, 'FM00') AS type, 'order-' || i AS aggregate, 5 AS tried,
      ${errorText('i')} AS error
    FROM (SELECT i, ${createdAt(DEAD_ROWS, endsAt)} - interval '10 minutes' AS created FROM generate_series(1, ${DEAD_ROWS}) AS i) AS drawn) AS event`;
}

const createdAt = (rows: number, endsAt: string): string => `${endsAt} - interval '${HISTORY_DAYS} days' * (${rows} - i)::float8 / ${rows}`;

/** Which of the rows 1 to `rows` are dead, for tables that keep dead rows among the others. */
export const isDead = (rows: number): string => `(i % ${Math.floor(rows / DEAD_ROWS)} = 1 AND i <= ${rows} - 2 * ${WAITING_ROWS})`;

export const errorText = (i: string): string => `'broker: topic ' || ${i} % 7 || ' refused order-' || ${i} || ' after 5000 ms'`;

/** A payload of about 250 bytes, as text. */
export const PAYLOAD = `'{"orderId":"' || aggregate || '","amount":"' || (i % 90000) || '.50","currency":"KRW","customer":{"id":' || i % 50000 || ',"email":"customer' || i % 50000 || '@example.com"},"note":"' || md5(i::text) || md5((i + 1)::text) || '"}'`;
