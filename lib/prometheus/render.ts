import { Counter, Gauge, Histogram, Registry, type MetricValueWithName } from 'prom-client';
import { FAMILIES, type Family, type FamilyName, type Label } from './families';
import type { Samples } from './samples';
import { LATENCY_LE_SECONDS } from './totals';

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

/** A histogram whose buckets were counted elsewhere: the library's own can only be fed event by event. */
class StoredHistogram extends Histogram<Label> {
  constructor(
    settings: ConstructorParameters<typeof Histogram<Label>>[0],
    private readonly latencies: Samples['latencies'],
  ) {
    super(settings);
  }

  /** What the registry asks a histogram for when it writes text. */
  async getForPromString() {
    const { help } = FAMILIES[LATENCY];
    const values = this.latencies.flatMap(({ outbox, latency }) => {
      let count = 0;
      const line = (suffix: string, value: number, labels: Partial<Record<Label, string>> = {}): MetricValueWithName<Label> => ({
        metricName: `${LATENCY}${suffix}`,
        labels: { outbox, ...labels },
        value,
      });
      const buckets = [...LATENCY_LE_SECONDS.map(String), '+Inf'].map((le, index) =>
        line('_bucket', (count += latency.counts[index] ?? 0), { le }),
      );
      return [...buckets, line('_sum', latency.sumSeconds), line('_count', count)];
    });
    return { name: LATENCY, help, type: 'histogram', values };
  }
}
