/** Causes of a quarter of a million dead events on both engines: what a round costs, and when a new cause is told. */
import { setTimeout as sleep } from 'node:timers/promises';
import { numbersTo } from '@/scripts/testing/mysql';
import { readCauses } from '@/lib/store/causes';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import type { Bench } from './bench';
import { collectCauses, OUTBOX_ID } from './product';
import { countersOf } from './support/counters';
import { startMysqlBenchServer } from './support/mysql-server';
import type { Budget, Table } from './support/report';

const TICK_MS = 1_000;
/** How long ticks without a round are measured. */
const IDLE_MS = 30_000;
const CAUSES = 60;
/** Every seventh event among them is published. */
const TABLE = 'settlement_events';
const ROUND_TIMEOUT_MS = 600_000;
/** Two ticks of the five seconds that a console's collector has. */
const NEW_TICKS = 2;
const STATEMENT_MS = 100;
const ROUND_MS = 2_000;
/** What tells its statements from those of the depth, which all viewers share. */
const OURS = 'as position';

/** Texts of sixty causes, each with ids, hosts and numbers of its own. */
const ERROR = (word: string, letters: string): string =>
  `concat('escrow step ', ${letters}, ': node-', ${word} % 40, '.prod.internal:50051 refused order-', ${word}, ' after ', ${word} % 900, ' ms')`;

/** Of the collector's statements about causes since the server started; `cpuMs`: of all that it asked, in milliseconds of a processor. */
interface Spent {
  statements: number;
  longestMs: number;
  cpuMs: number;
}

interface Observed {
  engine: string;
  url: string;
  /** Inserts the rows `from` to below `to`, dead of the causes, or all of one. */
  insert(from: number, to: number, cause: string | null): Promise<unknown>;
  spent(): Promise<Spent>;
}

interface Measured {
  engine: string;
  statements: number;
  longestMs: number;
  roundMs: number;
  roundSeconds: number;
  counted: number;
  causes: number;
  newTicks: number;
}

export const causesBench: Bench = {
  name: 'causes',
  about: 'dead events by cause, on both engines: what a round over all of them costs, and when a new cause is told',
  rows: [250_000],
  async run({ server, databases, rows: [rows = 0], dir }) {
    const storeUrl = server.superuserUrl(await databases.empty('causes_store'));
    const migrated = await migrateStore(storeUrl);
    if (!migrated.ok) throw new Error(migrated.detail);
    const store = openStore(storeUrl);
    const mysql = await startMysqlBenchServer(dir);
    const measured: Measured[] = [];
    try {
      const name = await databases.empty('causes');
      for (const text of ['create extension if not exists pg_stat_statements', ...ddl('timestamptz', 'jsonb')])
        await server.query(name, text);
      measured.push(
        await measure(store, rows, {
          engine: `PostgreSQL ${server.version}`,
          url: server.url(name, 'collector'),
          insert: async (from, to, cause) => {
            const letters = `chr(97 + n % ${CAUSES} / 26) || chr(97 + n % ${CAUSES} % 26)`;
            await server.query(
              name,
              `insert into ${TABLE} select n, 'settle.' || n % 3, case when n % 7 = 0 then 'out' else 'failed' end, ${cause === null ? ERROR('n', letters) : `'${cause}'`},
                now() - interval '30 days' + n * interval '10 seconds', jsonb_build_object('amount', (n % 90000) || '.50', 'currency', 'EUR', 'note', repeat('x', 200))
                from generate_series(${from}, ${to - 1}) as n`,
            );
            await server.query(name, `vacuum analyze ${TABLE}`);
          },
          async spent() {
            const [row] = await server.query<Record<'statements' | 'longest', number | null>>(
              name,
              `select sum(calls)::int as statements, max(max_exec_time) as longest from pg_stat_statements where userid = 'collector'::regrole and query like '%${OURS}%'`,
            );
            const { cpuMs, ms } = await countersOf(server, name, 'collector');
            return { statements: row?.statements ?? 0, longestMs: row?.longest ?? 0, cpuMs: cpuMs ?? ms };
          },
        }),
      );
      await mysql.query(null, 'create database causes');
      for (const text of ddl('datetime(6)', 'json')) await mysql.query('causes', text);
      await mysql.query(null, "create user collector identified by 'bench'");
      await mysql.query(null, 'grant select on causes.* to collector');
      for (const text of ["log_output = 'TABLE'", 'long_query_time = 0', 'slow_query_log = 1', 'userstat = 1'])
        await mysql.query(null, `set global ${text}`);
      const url = new URL(mysql.url('causes'));
      [url.username, url.password] = ['collector', 'bench'];
      measured.push(
        await measure(store, rows, {
          engine: mysql.version,
          url: url.href,
          insert: async (from, to, cause) => {
            const letters = `char(97 + n % ${CAUSES} div 26, 97 + n % ${CAUSES} % 26 using utf8mb4)`;
            await mysql.query(
              'causes',
              `insert into ${TABLE} select n, concat('settle.', n % 3), if(n % 7 = 0, 'out', 'failed'), ${cause === null ? ERROR('n', letters) : `'${cause}'`},
                utc_timestamp(6) - interval 30 day + interval 10 * n second, json_object('amount', concat(n % 90000, '.50'), 'currency', 'EUR', 'note', repeat('x', 200))
                from (select n + ${from - 1} as n from ${numbersTo(to - from, 'numbers')}) as numbered`,
            );
            await mysql.query('causes', `analyze table ${TABLE}`);
          },
          async spent() {
            const [row] = await mysql.query<Record<'statements' | 'longest', string | null>>(
              null,
              `select count(*) as statements, max(time_to_sec(query_time)) * 1000 as longest from mysql.slow_log where user_host like 'collector%' and sql_text like '%${OURS}%'`,
            );
            const [used] = await mysql.query<{ seconds: number }>(
              null,
              `select cpu_time as seconds from information_schema.user_statistics where user = 'collector'`,
            );
            return { statements: Number(row?.statements), longestMs: Number(row?.longest), cpuMs: Number(used?.seconds ?? 0) * 1_000 };
          },
        }),
      );
    } finally {
      await mysql.stop();
      await store.close();
    }
    return {
      tables: [tableOf(measured)],
      budgets: measured.flatMap((one) => budgets(one, rows)),
      observed: mysql.version,
      notes: [
        `The collector looks every ${TICK_MS / 1_000} s here, every 5 s in a console; the processor time of a round is that of the server for the collector, less that of as many ticks without one.`,
      ],
    };
  },
};

const ddl = (time: string, json: string): string[] => [
  `create table ${TABLE} (id bigint primary key, kind varchar(40) not null, status varchar(10) not null, error text, made ${time} not null, body ${json} not null)`,
  `create index ${TABLE}_walk on ${TABLE} (status, made, id)`,
];

async function measure(store: Store, rows: number, { engine, url, insert, spent }: Observed): Promise<Measured> {
  await store.db.deleteFrom('cause').execute();
  await store.db.deleteFrom('cause_round').execute();
  process.stderr.write(`filling ${engine} with ${rows.toLocaleString('en-US')} dead events\n`);
  const all = Math.ceil((rows * 7) / 6);
  for (let from = 1; from <= all; from += 1_000) if (from % 50_000 === 1) await insert(from, Math.min(all + 1, from + 50_000), null);
  const errors: unknown[] = [];
  let collecting: ReturnType<typeof collectCauses> | null = null;
  try {
    const begun = Date.now();
    const before = await spent();
    collecting = collectCauses(url, TABLE, store, TICK_MS, (error) => errors.push(error));
    await until(async () => (await readCauses(store.db, OUTBOX_ID)).round !== null);
    const walked = await spent();
    const roundSeconds = (Date.now() - begun) / 1_000;
    await sleep(IDLE_MS);
    const idle = await spent();
    // A tick looks at the newest, and now and then at a thousand.
    if (idle.statements - walked.statements > (2 * IDLE_MS) / TICK_MS)
      throw new Error('another round began: nobody knows what ticks without one cost');
    const { round, causes } = await readCauses(store.db, OUTBOX_ID);
    const from = Date.now();
    await insert(all + 1, all + 6, 'the new one');
    await until(async () => (await readCauses(store.db, OUTBOX_ID)).causes.some(({ error }) => error === 'the new one'));
    if (errors.length > 0) throw errors[0];
    return {
      engine,
      statements: walked.statements - before.statements,
      longestMs: walked.longestMs,
      roundMs: walked.cpuMs - before.cpuMs - ((idle.cpuMs - walked.cpuMs) * roundSeconds * 1_000) / IDLE_MS,
      roundSeconds,
      counted: round?.rows ?? 0,
      causes: causes.filter(({ count }) => count > 0).length,
      newTicks: Math.floor((Date.now() - from) / TICK_MS),
    };
  } finally {
    await collecting?.stop();
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + ROUND_TIMEOUT_MS; !(await holds()); await sleep(100))
    if (Date.now() > end) throw new Error('no causes came');
}

const tableOf = (measured: readonly Measured[]): Table => ({
  title: 'Dead events by cause',
  columns: ['', 'statements', 'longest, ms', 'processor, ms', 'round, s', 'counted', 'causes', 'ticks to a new cause'],
  rows: measured.map((one) => [
    one.engine,
    ...[one.statements, one.longestMs, one.roundMs, one.roundSeconds, one.counted, one.causes, one.newTicks],
  ]),
});

function budgets({ engine, longestMs, roundMs, counted, causes, newTicks }: Measured, rows: number): Budget[] {
  const budget = (promise: string, measured: number, limit: number, unit: string): Budget => ({
    name: `${engine}: ${promise}`,
    promise,
    measured,
    limit,
    unit,
  });
  return [
    budget('the longest statement of a round', longestMs, STATEMENT_MS, 'ms'),
    budget('processor time of a round', roundMs, ROUND_MS, 'ms'),
    budget('ticks until a new cause is told', newTicks, NEW_TICKS, 'ticks'),
    budget('events not counted or counted twice', Math.abs(counted - rows), 1, 'events'),
    budget('causes too many or too few', Math.abs(causes - CAUSES), 0, 'causes'),
  ];
}
