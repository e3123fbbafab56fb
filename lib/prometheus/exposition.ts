import { Counter, Gauge, Histogram, Registry, type MetricValueWithName } from 'prom-client';
import type { Collector } from '@/lib/history/collector/collector';
import { within } from '@/lib/shared/async/within';
import type { Carrying } from '@/lib/shared/changes/carrying';
import type { Snapshots } from '@/lib/snapshots/snapshots';
import type { StoreDb } from '@/lib/store/store';
import { createCreatedTotals, createTypeLabels } from './counters';
import { FAMILIES, type Family, type FamilyName, type Label } from './families';
import { auditSamples, databaseSamples, samplesOf, type Samples } from './samples';
import { createTotals, LATENCY_LE_SECONDS, type OutboxTotals } from './totals';

/** A scrape waits this long for totals from the store: Prometheus gives up on it after ten seconds. */
const STORE_PATIENCE_MS = 2_500;

interface ExpositionOptions {
  outboxes: readonly string[];
  snapshots: Pick<Snapshots, 'current' | 'databases'>;
  collector: Pick<Collector, 'status'>;
  carrier: { carrying(): Carrying[] };
  store: { db: StoreDb };
  /** Called once per scrape if totals could not be read; the text then lacks them. */
  onFailure?: (error: unknown) => void;
}

/** All outboxes as Prometheus text. An unreachable one delays it by 2.5 s once, then by 0.2 s. Concurrent scrapes share a result. */
export function createExposition({ outboxes, snapshots, collector, carrier, store, onFailure }: ExpositionOptions): () => Promise<string> {
  const labels = createTypeLabels();
  const totalsOf = createTotals(store.db, labels);
  const remembered = { labels, created: createCreatedTotals() };
  let underWay: Promise<string> | null = null;

  async function readTotals(): Promise<Map<string, OutboxTotals | null>> {
    const asked = await Promise.allSettled(outboxes.map((outbox) => inTime(totalsOf(outbox))));
    const failed = asked.find((one) => one.status === 'rejected');
    if (failed !== undefined) onFailure?.(failed.reason);
    return new Map(outboxes.map((outbox, at) => [outbox, asked[at]?.status === 'fulfilled' ? asked[at].value : null]));
  }

  async function compose(): Promise<string> {
    const [current, known] = await Promise.all([snapshots.current(), readTotals()]);
    const told = current.map((one) => {
      return samplesOf({ current: one, totals: known.get(one.id) ?? null, collector: collector.status(one.id) }, remembered);
    });
    const ofDatabases = [...databaseSamples(snapshots.databases()), ...auditSamples(carrier.carrying())];
    const values = [...told.flatMap((one) => one.values), ...ofDatabases];
    return render({ values, latencies: told.flatMap(({ latencies }) => latencies) });
  }

  return () => (underWay ??= compose().finally(() => (underWay = null)));
}

/** Rejects if the store takes longer than STORE_PATIENCE_MS. The value is wrapped, as null means late to `within`. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const answering = work.then((value) => ({ value }));
  const answer = await within(answering, STORE_PATIENCE_MS);
  if (answer === null) throw new Error(`the store did not answer within ${String(STORE_PATIENCE_MS)} ms`);
  return answer.value;
}

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;
const LATENCY = 'outbox_console_publish_latency_seconds' satisfies FamilyName;

/** The Prometheus text, version 0.0.4, in a registry of its own: nothing is kept from one scrape to the next. */
export async function render({ values, latencies }: Samples): Promise<string> {
  const registry = new Registry();
  const metrics = new Map<FamilyName, Gauge | Counter>();
  for (const [name, { type, help, labels }] of Object.entries(FAMILIES) as [FamilyName, Family][]) {
    const settings = { name, help, labelNames: labels.filter((label) => label !== 'le'), registers: [registry] };
    if (type === 'histogram') new StoredHistogram({ ...settings, buckets: [...LATENCY_LE_SECONDS] }, latencies);
    else metrics.set(name, type === 'gauge' ? new Gauge(settings) : new Counter(settings));
  }
  for (const { family, labels, value } of values) {
    const metric = metrics.get(family);
    if (metric instanceof Gauge) metric.set(labels, value);
    else metric?.inc(labels, value);
  }
  return registry.metrics();
}

/** A histogram whose buckets were counted elsewhere: the library's own takes one event at a time only. */
class StoredHistogram extends Histogram<Label> {
  constructor(
    settings: ConstructorParameters<typeof Histogram<Label>>[0],
    private readonly latencies: Samples['latencies'],
  ) {
    super(settings);
  }

  /** Called by the registry when it writes the text. */
  async getForPromString() {
    const { help } = FAMILIES[LATENCY];
    const values = this.latencies.flatMap(({ outbox, latency }) => {
      let count = 0;
      const line = (suffix: string, value: number, labels: Partial<Record<Label, string>> = {}): MetricValueWithName<Label> => {
        return { metricName: `${LATENCY}${suffix}`, labels: { outbox, ...labels }, value };
      };
      const bounds = [...LATENCY_LE_SECONDS.map(String), '+Inf'];
      const buckets = bounds.map((le, index) => line('_bucket', (count += latency.counts[index] ?? 0), { le }));
      return [...buckets, line('_sum', latency.sumSeconds), line('_count', count)];
    });
    return { name: LATENCY, help, type: 'histogram', values };
  }
}
