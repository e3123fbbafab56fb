import { setMaxListeners } from 'node:events';
import path from 'node:path';
import { mkdir } from 'node:fs/promises';
import { pastEvents } from '../history/past-events';
import { serviceEngineFor, withConnection } from '../database/engine';
import { demoOutboxes } from '../outboxes/all';
import type { DemoOutbox } from '../outboxes/outbox';
import { createRandom, type Random } from '../random';
import type { Relay } from '../relays/relay';
import { createSinkClient, type SinkControl } from '../sink/client';
import { startSink, type Sink } from '../sink/server';
import type { StoryEvent } from '../schema/table';
import type { Story } from '../story/story';
import { runTraffic } from '../traffic/traffic';
import { installCompanions } from './companions';
import { configurationText, loginsOf, writeSecret } from './configuration';
import { patientClient } from './patient-client';
import { createOutboxDatabases, type SuperuserUrl } from './databases';
import type { DatabaseLogins } from './logins';
import { removeMysqlDatabase } from './mysql-database';

const STOP_PATIENCE_MS = 2_500;
const RESTART_AFTER_MS = 60_000;
/** Roughly what accepting a message takes; relays wait for it. */
const SINK_LATENCY_MS = 15;

export interface WorldOptions {
  superuserUrl: SuperuserUrl;
  /** The console's own database, for the configuration. */
  storeUrl: string;
  /** Where the console's configuration is written. */
  configPath: string;
  seed: string;
  /** Where the outbox that is at home on MySQL is to be; left out: with the others. */
  mysqlUrl?: string;
  /** The configuration's section of that name; left out: nobody embeds anything. */
  embedding?: Record<string, unknown>;
  log: (line: string) => void;
  /** Leave out what goes wrong by itself, for tests that bring their own trouble. */
  withoutFaults?: boolean;
}

/** The five services with their outboxes, relays, traffic and troubles, and the sink they publish to. */
export interface World {
  sinkUrl: string;
  /** By outbox id: a login that may read and write everything. */
  databases: Record<string, string>;
  /** Rejects when a part of the world breaks; never resolves. */
  broken: Promise<never>;
  /** Starts or stops the relay of an outbox; false for an unknown one. */
  setRelay(outbox: string, running: boolean): Promise<boolean>;
  /** Resolves within about three seconds; what has not ended by then is killed. */
  stop(): Promise<void>;
}

/** Creates the databases, seven days of history and the configuration, then lets everything run. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const random = createRandom(options.seed);
  let world: RunningWorld | null = null;
  const sink = await startSink({
    latency: { random: random.fork('sink'), medianMs: SINK_LATENCY_MS },
    setRelay: async (outbox, running) => (await world?.setRelay(outbox, running)) ?? false,
  });
  const control = createSinkClient({ url: sink.url });
  const outboxes = demoOutboxes(options.mysqlUrl === undefined ? 'postgres' : 'mysql');
  const logins = await createOutboxDatabases(options.superuserUrl, outboxes, options.mysqlUrl);
  await mkdir(path.dirname(options.configPath), { recursive: true });
  await writeSecret(options.configPath, configurationText({ store: options.storeUrl, embedding: options.embedding }, outboxes, logins));
  await installCompanions(options.configPath, logins);
  const stages = await Promise.all(
    outboxes.map(async (outbox): Promise<Stage> => {
      const own = random.fork(outbox.id);
      const story = outbox.story(own.fork('story'));
      const connectionString = loginsOf(logins, outbox.id).everything;
      await insertHistory(outbox, own, story, connectionString);
      return { outbox, random: own, story, connectionString };
    }),
  );
  world = new RunningWorld(options, sink, control, logins);
  return world.start(stages);
}

interface Stage {
  outbox: DemoOutbox;
  random: Random;
  story: Story;
  connectionString: string;
}

async function insertHistory(outbox: DemoOutbox, random: Random, story: Story, connectionString: string): Promise<void> {
  const events = pastEvents(random.fork('history'), story, Date.now(), outbox.liveRate, outbox.past);
  await withConnection(connectionString, async (connection) => {
    await connection.query('BEGIN');
    await outbox.table.insertPast(connection, events);
    await connection.query('COMMIT');
    await connection.query(serviceEngineFor(connectionString).analyze(outbox.tableName));
  });
}

/** The relays of one outbox. */
interface Service {
  start: () => Relay[];
  /** Empty while they are stopped. */
  relays: Relay[];
}

/** Everything that goes on listens for the end, which is more than the ten that pass for no leak. */
function endingOfMany(): AbortController {
  const ending = new AbortController();
  setMaxListeners(100, ending.signal);
  return ending;
}

class RunningWorld implements World {
  readonly databases: Record<string, string>;
  readonly broken: Promise<never>;
  private readonly ending = endingOfMany();
  private readonly services = new Map<string, Service>();
  private readonly work: Promise<void>[] = [];
  private readonly outboxes: DemoOutbox[] = [];
  private fail: (error: Error) => void = () => undefined;

  constructor(
    private readonly options: WorldOptions,
    private readonly sink: Sink,
    private readonly control: SinkControl,
    logins: Map<string, DatabaseLogins>,
  ) {
    this.databases = Object.fromEntries([...logins].map(([id, { everything }]) => [id, everything]));
    this.broken = new Promise<never>((_, reject) => (this.fail = reject));
    // Whoever watches the world hears of it; a test that stops it first need not.
    this.broken.catch(() => undefined);
  }

  get sinkUrl(): string {
    return this.sink.url;
  }

  async start(stages: Stage[]): Promise<World> {
    this.outboxes.push(...stages.map(({ outbox }) => outbox));
    await Promise.all(stages.map((stage) => this.play(stage)));
    return this;
  }

  /** One outbox: what is wrong before, then relays, traffic and what goes wrong later. */
  private async play({ outbox, random, story, connectionString }: Stage): Promise<void> {
    const pause = (ms: number) => this.pause(ms);
    // A story of its own: faults must not change what the traffic tells.
    const faultRandom = random.fork('faults');
    const about = {
      outbox,
      connectionString,
      sink: this.control,
      random: faultRandom,
      story: troubled(outbox, faultRandom),
      now: Date.now(),
      pause,
    };
    const faults = this.options.withoutFaults === true ? {} : outbox.faults;
    await withConnection(connectionString, (client) => faults.before?.({ ...about, client }) ?? Promise.resolve());
    const log = (line: string) => this.options.log(`${outbox.id}: ${line}`);
    const service: Service = {
      relays: [],
      start: () => outbox.startRelays({ connectionString, sink: this.control, outbox: outbox.id, log }),
    };
    this.services.set(outbox.id, service);
    if (outbox.relayGone !== true) service.relays = service.start();
    this.watch(`relays of ${outbox.id}`, this.keepRunning(service));
    this.watch(`traffic of ${outbox.id}`, runTraffic({ outbox, connectionString, random: random.fork('traffic'), story, pause }));
    const client = patientClient(connectionString, pause);
    this.watch(
      `faults of ${outbox.id}`,
      (faults.during?.({ ...about, client }) ?? Promise.resolve()).finally(() => client.end()),
    );
  }

  /** An outage switches some relays off for good. After a while somebody restarts the service. */
  private async keepRunning(service: Service): Promise<void> {
    while (await this.pause(RESTART_AFTER_MS)) {
      if (!service.relays.some(isSwitchedOff)) continue;
      await Promise.all(service.relays.splice(0).map((relay) => relay.stop()));
      service.relays = service.start();
    }
  }

  async setRelay(outbox: string, running: boolean): Promise<boolean> {
    const service = this.services.get(outbox);
    if (service === undefined || this.ending.signal.aborted) return false;
    if (!running) await Promise.all(service.relays.splice(0).map((relay) => relay.stop()));
    else if (service.relays.length === 0) service.relays = service.start();
    return true;
  }

  private watch(what: string, work: Promise<void>): void {
    this.work.push(
      work.catch((error: unknown) => {
        if (this.ending.signal.aborted) return;
        this.fail(new Error(`The demo's ${what} broke: ${error instanceof Error ? error.message : String(error)}`, { cause: error }));
      }),
    );
  }

  private pause(ms: number): Promise<boolean> {
    const { signal } = this.ending;
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve(!signal.aborted);
      };
      const timer = setTimeout(done, ms);
      if (signal.aborted) done();
      else signal.addEventListener('abort', done);
    });
  }

  async stop(): Promise<void> {
    this.ending.abort();
    const relays = [...this.services.values()].flatMap((service) => service.relays);
    const ended = Promise.all([...this.work, ...relays.map((relay) => relay.stop())]);
    const inTime = await Promise.race([
      ended.then(() => true),
      new Promise<false>((resolve) => setTimeout(resolve, STOP_PATIENCE_MS, false)),
    ]);
    if (!inTime) for (const relay of relays) relay.kill();
    this.control.close();
    await this.sink.close();
    await this.leaveServer();
  }

  /** A server that is not ours is left as it was found, if it still answers; the next start does it otherwise. */
  private async leaveServer(): Promise<void> {
    const { mysqlUrl } = this.options;
    if (mysqlUrl === undefined) return;
    for (const outbox of this.outboxes)
      if (outbox.table.engine === 'mysql') await removeMysqlDatabase(mysqlUrl, outbox).catch(() => undefined);
  }
}

const isSwitchedOff = (relay: Relay): boolean => 'switchedOff' in relay && relay.switchedOff === true;

/** The fault script's events come from customers of their own, with order numbers nobody else has. */
function troubled(outbox: DemoOutbox, random: Random): Story {
  const story = outbox.story(random.fork('story'));
  return {
    next() {
      const event = story.next();
      const rename = (text: string): string => text.replace(/\b(order|ad)-(?=\d)/g, '$1-9');
      return JSON.parse(rename(JSON.stringify(event))) as StoryEvent;
    },
  };
}
