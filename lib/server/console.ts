import 'server-only';
import { startCarrier } from '@/lib/audit/carrier';
import { unsettledLog } from '@/lib/audit/unsettled-log';
import { createDirectory, directoryOptions } from '@/lib/outbox/directory';
import { createKeyFates } from '@/lib/outbox/lists/key-fates';
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
import type { PlanDeps } from '@/lib/runs/plans/plan';
import { leftoverIds } from '@/lib/runs/run/job';
import { blockedOutboxes } from '@/lib/runs/approvals/policy';
import { createRuns } from '@/lib/runs/run/runs';
import { mostPublished } from '@/lib/shared/figures/series-rates';
import { within } from '@/lib/shared/async/within';
import { perProcess } from '@/lib/shared/kept';
import { Problem } from '@/lib/shared/problems';
import { noteActed } from '@/lib/store/acted';
import { proveAuditTakesEntries } from '@/lib/store/audit';
import { openStore, type Store } from '@/lib/store/store';
import { setEmbedding } from './embedding/settings';
import { failureLog } from './failure-log';
import { log } from './log';
import { createUnderWay, isEnding } from './under-way';

/** Everything that requests need, once per process. */
export type Console = Awaited<ReturnType<typeof create>>;

const holder = perProcess('console', (): { running?: Promise<Console> | undefined; ended?: boolean } => ({}));

/** Time for work under way to finish. Interventions take seconds; a process manager must not kill us earlier. */
const PATIENCE_MS = 15_000;

/** Nothing is changed unless the store takes audit entries. */
async function requireStore({ db }: Store, outbox: string): Promise<void> {
  try {
    await proveAuditTakesEntries(db);
    await noteActed(db, [{ outbox, at: null }]);
  } catch (cause) {
    const detail = 'The console cannot write the audit in its own store at the moment, so this try changed nothing';
    throw new Problem('unavailable', detail, { ofStore: true, cause });
  }
}

async function create() {
  const env = environment();
  const complain = failureLog();
  const warn = (what: string) => (err: unknown) => complain({}, what, err);
  const reading = await loadConfig(env.configPath, SUPPORTED, environmentValue);
  const unusable = (problems: readonly string[]) => new Error(`The configuration cannot be used:\n${problems.join('\n')}`);
  if (!reading.ok) throw unusable(reading.problems);
  const { config } = reading;
  const url = config.storeUrl ?? env.embeddedStoreUrl;
  if (url === undefined) throw new Error('store: missing; start with npm start, which runs the embedded one');
  const store = openStore(url, warn('an idle connection to the store broke'));
  // One connection limit per server for everything this process does.
  const servers = createServers(config.connections.perServer);
  const warnOf = (what: string) => (database: string, err: unknown) => complain({ database }, what, err);
  const warnOfOutbox = (what: string) => (outbox: string, err: unknown) =>
    complain({ database: directory.database(outbox).id, outbox }, what, err);
  const directory = createDirectory({
    ...directoryOptions(config),
    servers,
    proofs: proofSource(store),
    onIdleError: warnOf('an idle connection broke'),
  });
  const wrong = await mappingErrors(directory);
  if (wrong.length > 0) {
    await Promise.all([directory.close(), store.close()]);
    throw unusable(wrong);
  }
  setEmbedding(config.embedding);
  const carrier = startCarrier({ directory, store, onError: warnOf('records could not be carried into the audit') });
  const snapshots = createSnapshots(directory, {
    history: openHistory(store),
    compute: computeInStore(store),
    collector: { status: (outbox) => collector.status(outbox) },
    onFailure: warnOfOutbox('the figures could not be read'),
  });
  // Its own connections, without an operator's: their cost is visible apart, and they wait for no others.
  const collected = createDirectory({
    ...directoryOptions(config),
    databases: config.databases.map(({ id, url }) => ({ id, url })),
    readAs: 'collector',
    servers,
    onIdleError: warnOf('an idle connection of the collector broke'),
  });
  const collector: Collector = createCollector({
    directory: collected,
    store,
    observers: OBSERVERS,
    tickMs: config.metrics.tickMs,
    retentionDays: config.retention.rollupDays,
    // The collector and all viewers share one reading.
    depthNow: (outbox) => snapshots.depthNow(outbox),
    holdsNow: (outbox) => snapshots.holdsNow(outbox),
    onError: warnOfOutbox('the history could not be collected'),
  });
  collector.start();
  const housekeeping = startHousekeeping({ store, rollupDays: config.retention.rollupDays, onError: warn('housekeeping failed') });
  const interventions: InterventionDeps = {
    directory,
    requireStore: (outbox) => requireStore(store, outbox).then(() => collector.acted(outbox)),
    unsettled: unsettledLog(store, warn('the store does not take an intervention whose outcome is unknown')),
    onRecord: (outbox) => carrier.kick(outbox),
  };
  const planDeps: PlanDeps = {
    store,
    directory,
    approvals: config.approvals,
    leftovers: leftoverIds,
    publishedPerMinute: async (outbox) => {
      const series = await snapshots.series(outbox, { window: '24h' }).catch(() => null);
      return series && mostPublished(series);
    },
  };
  const runs = createRuns({ ...interventions, ...planDeps, onError: warnOfOutbox('a run could not go on; it is tried again') });
  runs.start();
  const noApprover = 'the rules of approval ask for a second person, and no account may be one: give one the role approver';
  void blockedOutboxes(store.db, config.approvals, directory.ids)
    .then((outboxes) => outboxes.length > 0 && log().warn({ outboxes }, noApprover))
    .catch(warn('whether somebody may approve could not be looked at'));
  const underWay = createUnderWay();
  const settling = startSettling({ ...interventions, onError: warn('an intervention whose outcome is unknown could not be looked at') });
  return {
    config,
    store,
    askers: knownAskers(store, { onUnnoted: warn('that a token was used could not be noted') }),
    directory,
    keyFates: createKeyFates(directory),
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
    examiner: createExaminer({ directory, store, onFailure: warnOfOutbox('the outbox could not be examined') }),
    carrier,
    interventions,
    planDeps,
    runs,
    underWay,
    log: log(),
    async stop(): Promise<void> {
      await Promise.all([underWay.end(PATIENCE_MS), within(runs.stop(), PATIENCE_MS)]);
      housekeeping.stop();
      await Promise.all([settling.stop(), carrier.stop(), collector.stop()]);
      await Promise.all([directory.close(), collected.close(), store.close()]);
    },
  };
}

/** The running console; the first call starts it. After a failed start the next call tries again. */
export async function getConsole(): Promise<Console> {
  if (holder.ended) throw isEnding();
  holder.running ??= create().catch((error: unknown) => {
    holder.running = undefined;
    throw error;
  });
  return holder.running;
}

/** Ends the running console, if there is one; the next call starts another. */
export async function stopConsole(): Promise<void> {
  const running = holder.running;
  holder.running = undefined;
  holder.ended = false;
  await (await running)?.stop();
}

/** Ends the console for good: it refuses new work while it finishes what is under way, and no later call starts another. */
export async function endConsole(): Promise<void> {
  await (await holder.running)?.stop();
  holder.running = undefined;
  holder.ended = true;
}
