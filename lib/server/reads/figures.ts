import 'server-only';
import { maskText } from '@/lib/outbox/mask-text';
import type { FleetSnapshot, OutboxSnapshot, Series, Summary } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import type { SeriesSpan, Window } from '@/lib/shared/windows';
import type { Context } from '../context';

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

/** One outbox with its figures of a window, and the history that its charts show. */
export async function readOutbox(context: Context, outboxId: string, window: Window, { span, type }: SeriesQuery): Promise<OutboxSnapshot> {
  const { snapshots } = context.console;
  const own = 'window' in span && span.window === window && type === undefined;
  const [snapshot, series] = await Promise.all([
    snapshots.outbox(outboxId, window),
    own ? undefined : snapshots.series(outboxId, span, type),
  ]);
  return { ...snapshot, summary: presentSummary(context, snapshot.summary), series: series ?? snapshot.series };
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
