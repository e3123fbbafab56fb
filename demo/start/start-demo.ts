import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  placeEmbeddedPostgres,
  startEmbeddedPostgres,
  THROWAWAY_SETTINGS,
  type EmbeddedPostgres,
} from '@/lib/store/embedded/embedded-postgres';
import { environmentFor, type DemoEnvironment } from '../env';
import { ordersOf } from '../host/orders';
import { startDemoHost, type DemoHost } from '../host/server';
import { writeSecret } from '../world/configuration';
import { createStoreDatabase } from '../world/databases';
import type { FromWorld, ToWorld, WorldOrder } from '../world/messages';
import { ensureBuilt } from './build';
import { endChild, startChild, type Child } from './child';
import { startConsole } from './console';
import { mustBeFree } from './port';
import { prepareStore, type Accounts } from './store';

/** Stopping is over within ten seconds: children first, then the database they use. */
const CHILD_PATIENCE_MS = 3_000;
/** Long enough to see what the console says of it. */
const OUTAGE_MS = 15_000;

export interface DemoOptions {
  env: DemoEnvironment;
  /** False: everything but the console itself. */
  serveConsole: boolean;
  dev: boolean;
  log: (line: string) => void;
}

/** A running demo. */
export interface Demo extends Accounts {
  url: string;
  /** A page elsewhere that embeds cards. */
  hostUrl: string;
  /** Path of the console's configuration. */
  config: string;
  store: string;
  /** By outbox id: a login that may read and write everything. */
  databases: Record<string, string>;
  sinkUrl: string;
  pids: Record<string, number>;
}

/** Everything that was started so far and has to end again. */
export class DemoRun {
  private postgres: EmbeddedPostgres | null = null;
  private world: Child | null = null;
  private host: DemoHost | null = null;
  private console: Child | null = null;
  private build: Child | null = null;
  private starting: Promise<unknown> = Promise.resolve();
  private ending: Promise<void> | null = null;
  /** Set when everything runs. */
  private demo: Demo | null = null;
  private dataDir: string | null = null;
  private breakDown: (error: Error) => void = () => undefined;
  /** Rejects when something ends that should go on; never resolves. */
  readonly broken: Promise<never>;

  constructor(private readonly options: DemoOptions) {
    this.broken = new Promise<never>((_, reject) => (this.breakDown = reject));
    this.broken.catch(() => undefined);
  }

  /** Resolves when everything runs; `.outbox-console/demo.json` says where. */
  start(): Promise<Demo> {
    const started = this.startAll();
    this.starting = started;
    return started;
  }

  private async startAll(): Promise<Demo> {
    const { env, serveConsole, dev } = this.options;
    await mkdir(env.stateDir, { recursive: true });
    if (serveConsole) await mustBeFree(env.host, env.port);
    const build = serveConsole && !dev ? this.ensureBuilt() : Promise.resolve();
    const [demo] = await Promise.all([this.startWorld(), build]);
    this.mustGoOn();
    if (serveConsole) {
      this.options.log('starting the console');
      const started = (child: Child) => {
        this.console = this.watch('console', child);
        this.world?.process.send({ kind: 'console', pid: child.pid } satisfies ToWorld);
      };
      demo.pids.console = (await startConsole({ env, configPath: demo.config, dev, logFile: this.file('console.log'), started })).pid;
    }
    await this.tell(demo);
    this.demo = demo;
    return demo;
  }

  private async startWorld(): Promise<Demo> {
    const { env, log } = this.options;
    log('starting PostgreSQL');
    const { dir, shelter } = await placeEmbeddedPostgres(env.root, 'demo', env.demoDir, env.stateDir);
    const begin = (how: { fresh: true } | { port: number }) =>
      startEmbeddedPostgres({ dir, shelter, settings: THROWAWAY_SETTINGS, ...how });
    const postgres = await begin({ fresh: true });
    this.dataDir = dir;
    this.keepRunning(postgres, begin);
    this.mustGoOn();
    log(`creating five outboxes with seven days of history${env.mysqlUrl === undefined ? '' : ', one of them on MySQL'}`);
    const storeUrl = await createStoreDatabase((database) => postgres.superuserUrl(database));
    const host = await startDemoHost({
      consoleUrl: env.url,
      listOrders: async () => ordersOf(this.demo?.databases['orders-kafka'] ?? ''),
    });
    this.host = host;
    this.mustGoOn();
    const order: WorldOrder = {
      postgresUrl: postgres.superuserUrl('postgres'),
      postgresPid: postgres.pid,
      storeUrl,
      configPath: this.file('demo.yaml'),
      seed: env.seed,
      mysqlUrl: env.mysqlUrl,
      embedding: host.embedding,
    };
    const [world, accounts] = await Promise.all([this.startWorldProcess(order), prepareStore(storeUrl, env)]);
    log('relays, traffic and faults are running');
    return {
      url: env.url,
      hostUrl: host.url,
      config: order.configPath,
      store: storeUrl,
      databases: world.databases,
      sinkUrl: world.sinkUrl,
      ...accounts,
      pids: { starter: process.pid, postgres: postgres.pid, world: this.world?.pid ?? 0 },
    };
  }

  /** Pulling the plug is part of the demo: the console tells what it sees, and after a while the database is back. */
  private keepRunning(postgres: EmbeddedPostgres, begin: (how: { port: number }) => Promise<EmbeddedPostgres>): void {
    this.postgres = postgres;
    const revive = async (): Promise<void> => {
      const end = await postgres.exited;
      if (end.expected || this.ending !== null) return;
      this.options.log(`PostgreSQL has ended unasked; it is started again in ${OUTAGE_MS / 1_000} s`);
      await sleep(OUTAGE_MS, undefined, { ref: false });
      this.mustGoOn();
      // It is gone; this gives its folder back.
      await postgres.stop();
      const restarting = begin({ port: postgres.port }).then((next) => {
        this.keepRunning(next, begin);
        return next;
      });
      // Whoever ends the demo meanwhile waits for the new server, and then ends that one.
      this.starting = Promise.allSettled([this.starting, restarting]);
      const next = await restarting;
      this.mustGoOn();
      this.world?.process.send({ kind: 'postgres', pid: next.pid } satisfies ToWorld);
      if (this.demo !== null) {
        this.demo.pids.postgres = next.pid;
        await this.tell(this.demo);
      }
      this.options.log('PostgreSQL is back');
    };
    revive().catch((cause: unknown) => {
      if (this.ending === null) this.breakDown(new Error(`PostgreSQL has ended and does not start again: ${String(cause)}`, { cause }));
    });
  }

  /** Writes down for scripts where everything is. */
  private tell(demo: Demo): Promise<void> {
    return writeSecret(this.file('demo.json'), `${JSON.stringify(demo, null, 2)}\n`);
  }

  private async startWorldProcess(order: WorldOrder): Promise<Extract<FromWorld, { kind: 'started' }>> {
    const { root } = this.options.env;
    const child = await startChild(['--import', 'tsx', path.join(root, 'demo/world/process.ts')], {
      cwd: root,
      env: environmentFor({}),
      channel: true,
    });
    this.world = this.watch('world of relays and traffic', child);
    return new Promise((resolve, reject) => {
      child.process.on('message', (message: FromWorld) => {
        if (message.kind === 'started') return resolve(message);
        const error = new Error(message.message);
        reject(error);
        this.breakDown(error);
      });
      void child.ended.then(() => reject(new Error('the world of relays and traffic has ended')));
      child.process.send({ kind: 'start', order } satisfies ToWorld);
    });
  }

  private async ensureBuilt(): Promise<void> {
    const { env, log } = this.options;
    const started = (child: Child) => {
      this.build = child;
      if (this.ending !== null) child.signal('SIGKILL');
      log('building the console (once; later starts are quick)');
    };
    await ensureBuilt({ root: env.root, logFile: this.file('build.log'), started });
    this.build = null;
  }

  /** Its end is a breakdown unless we are ending. */
  private watch(name: string, child: Child): Child {
    if (this.ending !== null) child.signal('SIGKILL');
    void child.ended.then(({ code, signal }) => {
      if (this.ending === null) this.breakDown(new Error(`The ${name} has ended unasked (${code ?? signal}).`));
    });
    return child;
  }

  private mustGoOn(): void {
    if (this.ending !== null) throw new Error('stopped');
  }

  private file(name: string): string {
    return path.join(this.options.env.stateDir, name);
  }

  /** Ends everything, within ten seconds. May be called at any moment, again too. */
  stop(): Promise<void> {
    this.ending ??= this.end();
    return this.ending;
  }

  private async end(): Promise<void> {
    await this.endChildren();
    // A start under way notices at its next step; what it has started until then ends too.
    await this.starting.catch(() => undefined);
    await this.endChildren();
    await this.host?.close();
    await this.postgres?.stop();
    // The next start begins with an empty cluster anyway.
    if (this.dataDir !== null) await rm(this.dataDir, { recursive: true, force: true });
    // Only ours: a second demo that refused to start must not make the first one invisible.
    if (this.demo !== null) await rm(this.file('demo.json'), { force: true });
  }

  private async endChildren(): Promise<void> {
    const { build, console: server, world } = this;
    await Promise.all([
      build && endChild(build, () => build.signal('SIGTERM'), CHILD_PATIENCE_MS),
      server && endChild(server, () => server.signal('SIGTERM'), CHILD_PATIENCE_MS),
      world && endChild(world, () => world.process.connected && world.process.send({ kind: 'stop' } satisfies ToWorld), CHILD_PATIENCE_MS),
    ]);
    this.build = this.console = this.world = null;
  }

  /** Ends everything at once, without a word. */
  kill(): void {
    for (const child of [this.build, this.console, this.world]) child?.signal('SIGKILL');
    try {
      // Immediate shutdown: its own children end with it, which they would not if it were killed.
      if (this.postgres) process.kill(this.postgres.pid, 'SIGQUIT');
    } catch {
      // It has gone first.
    }
  }
}
