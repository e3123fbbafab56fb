import type { Carrying } from '@/lib/shared/changes/carrying';
import { within } from '@/lib/shared/async/within';
import type { StoreDb } from '@/lib/store/store';
import type { Collector } from '@/lib/history/collector/collector';
import type { Snapshots } from '@/lib/snapshots/snapshots';
import { auditSamples } from './audit-samples';
import { createCreatedTotals } from './created';
import { databaseSamples } from './database-samples';
import { render } from './render';
import { samplesOf } from './samples';
import { createTotals, type OutboxTotals } from './totals';
import { createTypeLabels } from './type-labels';

/** The store is asked for totals and has this long: a scrape is given up after ten seconds. */
const STORE_PATIENCE_MS = 2_500;

/** The figures of every outbox as Prometheus text. */
export interface Exposition {
  /**
   * All outboxes at once, from the shared readings and the store: an outbox that is away is `up 0` and delays the others by
   * 2.5 s once, then by 0.2 s. Scrapes that arrive together are answered together.
   */
  text(): Promise<string>;
}

export interface ExpositionOptions {
  /** Ids of all of them. */
  outboxes: readonly string[];
  snapshots: Pick<Snapshots, 'current' | 'databases'>;
  collector: Pick<Collector, 'status'>;
  /** Brings the records of interventions into the audit. */
  carrier: { carrying(): Carrying[] };
  store: { db: StoreDb };
  /** Told once per scrape when totals could not be read; the text then lacks them. */
  onFailure?: (error: unknown) => void;
}

export function createExposition({ outboxes, snapshots, collector, carrier, store, onFailure }: ExpositionOptions): Exposition {
  const labels = createTypeLabels();
  const totals = createTotals(store.db, labels);
  const remembered = { labels, created: createCreatedTotals() };
  let underWay: Promise<string> | null = null;

  async function readTotals(): Promise<Map<string, OutboxTotals | null>> {
    const asked = await Promise.allSettled(outboxes.map((outbox) => inTime(totals.of(outbox))));
    const failed = asked.find((one) => one.status === 'rejected');
    if (failed !== undefined) onFailure?.(failed.reason);
    return new Map(outboxes.map((outbox, at) => [outbox, asked[at]?.status === 'fulfilled' ? asked[at].value : null]));
  }

  async function compose(): Promise<string> {
    const [current, known] = await Promise.all([snapshots.current(), readTotals()]);
    const told = current.map((one) =>
      samplesOf({ current: one, totals: known.get(one.id) ?? null, collector: collector.status(one.id) }, remembered),
    );
    const databases = databaseSamples(snapshots.databases());
    return render({
      values: [...told.flatMap(({ values }) => values), ...databases, ...auditSamples(carrier.carrying())],
      latencies: told.flatMap(({ latencies }) => latencies),
    });
  }

  return {
    text() {
      underWay ??= compose().finally(() => (underWay = null));
      return underWay;
    },
  };
}

/** Rejects when the store takes longer than it may; null is an answer of its own here. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const answer = await within(
    work.then((value) => ({ value })),
    STORE_PATIENCE_MS,
  );
  if (answer === null) throw new Error(`the store did not answer within ${String(STORE_PATIENCE_MS)} ms`);
  return answer.value;
}
