import { groupBy } from '@/lib/shared/group-by';
import { settleEntry, type SettleDeps, type Unsettled } from '@/lib/interventions/settle';

const INTERVAL_MS = 3_000;

export interface SettlingOptions extends SettleDeps {
  onError(error: unknown): void;
}

/** Checks interventions with an unconfirmed commit every 3 s, in any number of replicas. `stop` waits for a check under way. */
export function startSettling(options: SettlingOptions): { stop(): Promise<void> } {
  let underWay: Promise<void> | null = null;
  const timer = setInterval(() => {
    underWay ??= settleAll(options).finally(() => (underWay = null));
  }, INTERVAL_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}

/** Checks each of them once; an unreachable or failing outbox does not hold up the others. Never rejects. */
export async function settleAll(options: SettlingOptions): Promise<void> {
  const entries = groupBy(await options.unsettled.list(options.directory.ids), ({ outbox }) => outbox);
  await Promise.all([...entries.values()].map((own) => settleEach(options, own)));
}

async function settleEach(options: SettlingOptions, entries: readonly Unsettled[]): Promise<void> {
  for (const entry of entries) {
    try {
      const finding = await settleEntry(options, entry);
      if (finding.kind !== 'unknown' || finding.why === 'running') continue;
      if (finding.error !== undefined) options.onError(finding.error);
      // The database does not answer: further entries would only wait as long again.
      return;
    } catch (error) {
      options.onError(error);
      return;
    }
  }
}
