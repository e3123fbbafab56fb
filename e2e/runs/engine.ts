/** The part of a console that carries runs out, as a process of its own: bundled, so that it is there in a moment, and killed. */
import { startCarrier } from '@/lib/audit/carrier';
import { unsettledLog } from '@/lib/audit/unsettled-log';
import { startSettling } from '@/lib/jobs/settling';
import { createRuns } from '@/lib/runs/run/runs';
import { openPeople, requireStoreOf, type Address } from './people';

const options = JSON.parse(process.argv[3] ?? '{}') as Address;
const { store, directory, planDeps } = openPeople(options);
const complain =
  (what: string) =>
  (...about: unknown[]): void =>
    console.log(new Date().toISOString(), what, ...about.map((one) => (one instanceof Error ? (one.stack ?? one.message) : one)));

process.on('uncaughtException', (error) => {
  complain('uncaught')(error);
  process.exit(70);
});
process.on('unhandledRejection', (error) => {
  complain('unhandled')(error);
  process.exit(71);
});
// Whoever started it is gone.
process.stdin.on('end', () => process.exit(0)).resume();

const carrier = startCarrier({ directory, store, onError: complain('audit') });
const interventions = {
  directory,
  requireStore: requireStoreOf(store),
  unsettled: unsettledLog(store, complain('unsettled')),
  onRecord: (outbox: string) => carrier.kick(outbox),
};
const runs = createRuns({
  ...interventions,
  ...planDeps,
  onError: complain('run'),
  timing: { leaseSeconds: 1, pollMs: 100, lookMs: 40, noFateMs: 20_000, retryMs: 100, followMs: 500 },
});
const settling = startSettling({ ...interventions, onError: complain('settling') });
runs.start();
process.once('SIGTERM', () => {
  void Promise.all([runs.stop(), settling.stop(), carrier.stop()])
    .then(() => Promise.all([directory.close(), store.close()]))
    .then(() => process.exit(0));
});
console.log('started');
