import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@/lib/store/embedded/embedded-postgres';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import type { Bench } from './bench';
import { publishedAtFilling } from './fillings/published-at';
import { startCollecting, type Collecting } from './load/start-collecting';
import { startHeldTraffic, WRITERS } from './load/held-traffic';
import { bookedByMinuteAndType, provisionalMinutes } from './product';
import type { Budget, Table } from './support/report';

/** What happens when, in seconds after the start. */
const FOREIGN_FROM = 40;
const FOREIGN_SECONDS = 200;
const ENDS_AT = 290;
/** Until the last minute has ended, its transactions too, and the recount has been over it. */
const SETTLE_MS = 180_000;

/** Commits are waited for: what a killed server has confirmed, it still has. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', shared_buffers: '256MB' };

export const exactlyOnceBench: Bench = {
  name: 'exactly-once',
  about: 'whether an event is lost or counted twice while everything goes wrong, in earnest time',
  rows: [0],
  async run({ dir }) {
    const observed = await Server.start(dir);
    const kept = await Server.start(dir);
    await observed.query(`${publishedAtFilling.ddl.join(';')}; CREATE TABLE foreign_work (n int)`);
    const migrated = await migrateStore(kept.url);
    if (!migrated.ok) throw new Error(migrated.detail);
    const store = openStore(kept.url);
    const errors: string[] = [];
    const begin = (): Collecting =>
      startCollecting(
        { url: observed.url, storeUrl: kept.url, shape: publishedAtFilling.shape, table: publishedAtFilling.table },
        (error) => errors.push(error),
      );
    const replicas = [begin(), begin()];
    const happened: Table['rows'] = [];
    const began = performance.now();
    const at = async (second: number, what: string, work: () => Promise<unknown> | void): Promise<void> => {
      await sleep(Math.max(0, began + second * 1_000 - performance.now()));
      process.stderr.write(`${second} s: ${what}\n`);
      await work();
      happened.push([second, what]);
    };
    const restart = async (replica: number): Promise<void> => {
      await replicas[replica]?.kill();
      replicas[replica] = begin();
    };
    let seen = 0;
    const watch = setInterval(() => {
      void provisionalMinutes(store)
        .then((minutes) => (seen = Math.max(seen, minutes.length)))
        .catch(() => undefined);
    }, 1_000);
    const traffic = startHeldTraffic(observed.url);
    try {
      await at(20, 'kill -9 of the observed server', () => observed.crash());
      const foreign = new pg.Client({ connectionString: observed.url });
      foreign.on('error', () => undefined);
      await at(FOREIGN_FROM, `another transaction writes, and stays open for ${FOREIGN_SECONDS} s`, async () => {
        await foreign.connect();
        await foreign.query('BEGIN; INSERT INTO foreign_work VALUES (1)');
      });
      await at(70, 'kill -9 of the first replica, started again', () => restart(0));
      await at(95, 'kill -9 of the second replica, started again', () => restart(1));
      await at(120, "kill -9 of the store's server", () => kept.crash());
      await at(150, 'both replicas sleep for 25 s, one after the other', async () => {
        for (const replica of replicas) {
          replica.freeze();
          await sleep(25_000);
          replica.thaw();
        }
      });
      await at(FOREIGN_FROM + FOREIGN_SECONDS, 'the other transaction ends', async () => {
        await foreign.query('COMMIT');
        await foreign.end();
      });
      await at(255, 'kill -9 of the observed server, and of a replica', async () => {
        await Promise.all([observed.crash(), restart(0)]);
      });
      await at(ENDS_AT, 'the last event', () => traffic.stop());
      const result = await settled(observed, store);
      return {
        tables: [
          { title: 'What went wrong', columns: ['second', 'what'], rows: happened },
          {
            title: 'Counted once',
            columns: ['published', 'in the books', 'lost', 'counted twice', 'minutes provisional at the most', 'provisional in the end'],
            rows: [[result.published, result.booked, result.lost, result.twice, seen, result.provisional]],
          },
        ],
        budgets: budgets(result, seen),
        notes: [
          `${WRITERS} writers; a tenth of their transactions stay open for up to 6 s, a third use savepoints. Two replicas with the product's own times: looks every 5 s, leases of 15 s, recounts every minute.`,
          'Lost and counted twice are differences by minute of publishing and type, added up; they are compared when no minute is provisional any more.',
        ],
      };
    } finally {
      clearInterval(watch);
      await traffic.stop().catch(() => undefined);
      for (const replica of replicas) replica.thaw();
      await Promise.all(replicas.map((replica) => replica.stop()));
      await store.close();
      await Promise.all([observed.stop(), kept.stop()]);
    }
  },
};

interface Result {
  published: number;
  booked: number;
  lost: number;
  twice: number;
  provisional: number;
}

/** Compares until nothing differs and nothing is provisional, or time is up. */
async function settled(observed: Server, store: Store): Promise<Result> {
  for (const until = Date.now() + SETTLE_MS; ;) {
    const result = await compare(observed, store);
    if ((result.lost === 0 && result.twice === 0 && result.provisional === 0) || Date.now() > until) return result;
    await sleep(5_000);
  }
}

async function compare(observed: Server, store: Store): Promise<Result> {
  const rows = await observed.query<{ minute: number; type: string; n: number }>(
    `SELECT floor(extract(epoch FROM published_at) / 60)::int AS minute, event_type AS type, count(*)::int AS n FROM outbox_events WHERE published_at IS NOT NULL GROUP BY 1, 2`,
  );
  const minutes = rows.map(({ minute }) => minute);
  const books = await bookedByMinuteAndType(store, Math.min(...minutes), Math.max(...minutes) + 1);
  const table = new Map(rows.map(({ minute, type, n }) => [`${minute} ${type}`, n]));
  const keys = new Set([...table.keys(), ...books.keys()]);
  const result: Result = { published: 0, booked: 0, lost: 0, twice: 0, provisional: (await provisionalMinutes(store)).length };
  for (const key of keys) {
    const [there, booked] = [table.get(key) ?? 0, books.get(key) ?? 0];
    result.published += there;
    result.booked += booked;
    result.lost += Math.max(0, there - booked);
    result.twice += Math.max(0, booked - there);
  }
  return result;
}

function budgets({ lost, twice, provisional }: Result, seen: number): Budget[] {
  const none = (name: string, measured: number): Budget => ({ name, promise: name, measured, limit: 0, unit: '' });
  return [
    none('events lost', lost),
    none('events counted twice', twice),
    none('minutes still provisional in the end', provisional),
    { name: 'minutes marked meanwhile', promise: 'minutes marked meanwhile', measured: seen, limit: 1, rule: '>=', unit: 'minutes' },
  ];
}

/** A PostgreSQL that can be killed and comes back on the same port with the same data. */
class Server {
  private constructor(
    private readonly dir: string,
    private running: EmbeddedPostgres,
  ) {}

  static async start(baseDir: string): Promise<Server> {
    const dir = await mkdtemp(path.join(baseDir, 'outbox-console-once-'));
    return new Server(dir, await startEmbeddedPostgres({ dir, settings: SETTINGS }));
  }

  get url(): string {
    return this.running.superuserUrl('postgres');
  }

  async crash(): Promise<void> {
    const { pid, port } = this.running;
    kill(pid, 'SIGKILL');
    await this.running.stop();
    this.running = await startEmbeddedPostgres({ dir: this.dir, port, settings: SETTINGS });
  }

  async query<T extends pg.QueryResultRow>(text: string): Promise<T[]> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query<T>(text)).rows;
    } finally {
      await client.end();
    }
  }

  async stop(): Promise<void> {
    await this.running.stop();
    await rm(this.dir, { recursive: true, force: true });
  }
}
