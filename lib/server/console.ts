import 'server-only';
import { startCarrier } from '@/lib/audit/carrier';
import { unsettledLog } from '@/lib/audit/unsettled-log';
import { createDirectory, directoryOptions } from '@/lib/outbox/directory';
import { SUPPORTED, loadConfig } from '@/lib/config/load';
import { createServers } from '@/lib/database/connections/servers';
import { environment, environmentValue } from '@/lib/env';
import { createExaminer } from '@/lib/doctor/examiner';
import { knownAskers } from '@/lib/identity/known-askers';
import { startHousekeeping } from '@/lib/jobs/housekeeping';
import { startSettling } from '@/lib/jobs/settling';
import type { InterventionDeps } from '@/lib/interventions/intervene';
import { createExposition } from '@/lib/prometheus/exposition';
import { createCollector, type Collector } from '@/lib/history/collector/collector';
import { openHistory } from '@/lib/history/history';
import { OBSERVERS } from '@/lib/history/collector/observe';
import { computeInStore } from '@/lib/live/take-reading';
import { createSnapshots } from '@/lib/snapshots/snapshots';
import { mappingErrors } from '@/lib/outbox/mapping/mapping-errors';
import { proofSource } from '@/lib/proving/keep';
import { Problem } from '@/lib/shared/problems';
import { proveAuditTakesEntries } from '@/lib/store/audit';
import { openStore, type Store } from '@/lib/store/store';
import { log } from './log';
import { createUnderWay, isEnding } from './under-way';

/** Everything a request can need, one per process. */
export type Console = Awaited<ReturnType<typeof create>>;

/** On globalThis: Next bundles this module several times for one process. */
const KEY = Symbol.for('outbox-console.console');
const ENDED = Symbol.for('outbox-console.ended');
const holder = globalThis as { [KEY]?: Promise<Console>; [ENDED]?: boolean };

/** An intervention takes seconds at the very most; whoever starts us must not kill us earlier. */
const PATIENCE_MS = 15_000;

/** Without a store that takes its audit entry, nothing is changed. */
const requireStore = (store: Store): Promise<void> =>
  proveAuditTakesEntries(store.db).catch((cause: unknown) => {
    const detail = 'The console cannot write the audit in its own store at the moment, so this try changed nothing';
    throw new Problem('unavailable', detail, { ofStore: true, cause });
  });

/** Logs that a thing of its own failed, as a warning. */
const warn = (text: string) => (err: unknown) => log().warn({ err }, text);
const warnOf = (of: 'outbox' | 'database', text: string) => (name: string, err: unknown) => log().warn({ [of]: name, err }, text);

async function create() {
  const env = environment();
  const reading = await loadConfig(env.configPath, SUPPORTED, environmentValue);
  const unusable = (problems: readonly string[]) => new Error(`The configuration cannot be used:\n${problems.join('\n')}`);
  if (!reading.ok) throw unusable(reading.problems);
  const { config } = reading;
  const url = config.storeUrl ?? env.embeddedStoreUrl;
  if (url === undefined) throw new Error('store: missing; start with npm start, which runs the embedded one');
  const store = openStore(url, warn('an idle connection to the store broke'));
  // One bound for whatever this process does at a server.
  const servers = createServers(config.connections.perServer);
  const directory = createDirectory({
    ...directoryOptions(config),
    servers,
    proofs: proofSource(store),
    onIdleError: warnOf('database', 'an idle connection broke'),
  });
  const wrong = await mappingErrors(directory);
  if (wrong.length > 0) {
    await Promise.all([directory.close(), store.close()]);
    throw unusable(wrong);
  }
  const carrier = startCarrier({ directory, store, onError: warnOf('database', 'records could not be carried into the audit') });
  const snapshots = createSnapshots(directory, {
    history: openHistory(store),
    compute: computeInStore(store),
    collector: { status: (outbox) => collector.status(outbox) },
    onFailure: warnOf('outbox', 'the figures could not be read'),
  });
  // Connections of its own, without an operator's: what it costs can be told apart, and it waits for nobody.
  const collected = createDirectory({
    ...directoryOptions(config),
    databases: config.databases.map(({ id, url }) => ({ id, url })),
    readAs: 'collector',
    servers,
    onIdleError: warnOf('database', 'an idle connection of the collector broke'),
  });
  const collector: Collector = createCollector({
    directory: collected,
    store,
    observers: OBSERVERS,
    tickMs: config.metrics.tickMs,
    retentionDays: config.retention.rollupDays,
    // One reading for the collector and all viewers.
    depthNow: (outbox) => snapshots.depthNow(outbox),
    onError: warnOf('outbox', 'the history could not be collected'),
  });
  collector.start();
  const housekeeping = startHousekeeping({ store, rollupDays: config.retention.rollupDays, onError: warn('housekeeping failed') });
  const interventions: InterventionDeps = {
    directory,
    requireStore: () => requireStore(store),
    unsettled: unsettledLog(store, warn('the store does not take an intervention whose outcome is unknown')),
    onRecord: (outbox) => carrier.kick(outbox),
  };
  const underWay = createUnderWay();
  const settling = startSettling({ ...interventions, onError: warn('an intervention whose outcome is unknown could not be looked at') });
  return {
    config,
    store,
    askers: knownAskers(store, { onUnnoted: warn('that a token was used could not be noted') }),
    directory,
    snapshots,
    exposition: createExposition({
      outboxes: directory.ids,
      snapshots,
      collector,
      carrier,
      store,
      onFailure: warn('the totals for Prometheus could not be read'),
    }),
    collector,
    examiner: createExaminer({ directory, store, onFailure: warnOf('outbox', 'the outbox could not be examined') }),
    /** Brings the records of interventions into the audit. */
    carrier,
    interventions,
    /** What is finished or refused before the console ends. */
    underWay,
    log: log(),
    /** Finishes what is under way, and ends the console's own work. */
    async stop(): Promise<void> {
      await underWay.end(PATIENCE_MS);
      housekeeping.stop();
      await Promise.all([settling.stop(), carrier.stop(), collector.stop()]);
      await Promise.all([directory.close(), collected.close(), store.close()]);
    },
  };
}

/** The running console; the first call opens it. A start that failed is tried again by the next call. */
export async function getConsole(): Promise<Console> {
  if (holder[ENDED]) throw isEnding();
  holder[KEY] ??= create().catch((error: unknown) => {
    holder[KEY] = undefined;
    throw error;
  });
  return holder[KEY];
}

/** Ends the running console, if there is one; the next call opens another. */
export async function stopConsole(): Promise<void> {
  const running = holder[KEY];
  holder[KEY] = undefined;
  holder[ENDED] = false;
  await (await running)?.stop();
}

/** Ends the console for good: until it has finished what is under way it refuses by itself what is new, and then nobody opens another. */
export async function endConsole(): Promise<void> {
  const running = holder[KEY];
  await (await running)?.stop();
  holder[KEY] = undefined;
  holder[ENDED] = true;
}
