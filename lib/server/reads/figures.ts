import 'server-only';
import { maskText } from '@/lib/outbox/mask-text';
import type { MarkedSnapshot, TypeTrend } from '@/lib/shared/chart-view';
import type { FleetSnapshot, Series, Summary } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import type { SeriesSpan, Window } from '@/lib/shared/windows';
import type { Context } from '../context';
import { readMarks } from './marks';

/** Every outbox over the last hour, worst first. The readings are everybody's; what an error quotes is not. */
export async function readFleet(context: Context): Promise<FleetSnapshot> {
  const fleet = await context.console.snapshots.fleet();
  return { ...fleet, entries: fleet.entries.map((entry) => ({ ...entry, summary: presentSummary(context, entry.summary) })) };
}

/** What the charts of an outbox show: a window up to now or a span of its own, of all events or of one type. */
export interface SeriesQuery {
  span: SeriesSpan;
  type?: string;
}

/** One outbox with its figures of a window, the history that its charts show, and the marks on it. */
export async function readOutbox(context: Context, outboxId: string, window: Window, { span, type }: SeriesQuery): Promise<MarkedSnapshot> {
  const { snapshots } = context.console;
  const own = 'window' in span && span.window === window && type === undefined;
  const [snapshot, other] = await Promise.all([
    snapshots.outbox(outboxId, window),
    own ? undefined : snapshots.series(outboxId, span, type),
  ]);
  const series = other ?? snapshot.series;
  const { marks } = await readMarks(context, { outbox: outboxId, ...boundsOf(series) });
  return { ...snapshot, summary: presentSummary(context, snapshot.summary), series, marks };
}

/** How the flow of some types went over a window, one after the other: cheap, but not free. */
export async function readTypeTrends(context: Context, outboxId: string, window: Window, types: readonly string[]): Promise<TypeTrend[]> {
  const trends: TypeTrend[] = [];
  for (const type of types) {
    const { points } = await context.console.snapshots.series(outboxId, { window }, type);
    trends.push({ type, published: points.map(({ published }) => published) });
  }
  return trends;
}

function boundsOf({ points, stepSeconds }: Series): { from?: string; to?: string } {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return {};
  return { from: first.at, to: new Date(Date.parse(last.at) + stepSeconds * 1_000).toISOString() };
}

export async function readSummary(context: Context, outboxId: string, window: Window): Promise<Summary> {
  return presentSummary(context, await context.console.snapshots.summary(outboxId, window));
}

export function readSeries({ console }: Context, outboxId: string, { span, type }: SeriesQuery): Promise<Series> {
  return console.snapshots.series(outboxId, span, type);
}

/** Evidence may quote an error text. */
function presentSummary({ actor }: Context, summary: Summary): Summary {
  if (can(actor.role, 'payload:unmask')) return summary;
  const evidence = summary.diagnosis.evidence.map((fact) => ({
    ...fact,
    values: Object.fromEntries(
      Object.entries(fact.values).map(([name, value]) => [name, name === 'error' && typeof value === 'string' ? maskText(value) : value]),
    ),
  }));
  return { ...summary, diagnosis: { ...summary.diagnosis, evidence } };
}
