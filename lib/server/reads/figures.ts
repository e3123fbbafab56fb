import 'server-only';
import { CONTENT_TYPE } from '@/lib/prometheus/exposition';
import { blockedOutboxes } from '@/lib/runs/approvals/policy';
import { lacksOf } from '@/lib/shared/changes/carrying';
import type { ExaminedFleet } from '@/lib/shared/doctor';
import type { MarkedSnapshot, TypeTrend } from '@/lib/shared/figures/chart-view';
import { fleetLine, type FleetEntry, type FleetLine } from '@/lib/shared/figures/fleet';
import type { Window } from '@/lib/shared/figures/windows';
import type { Series, Summary } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import type { Charts } from '@/lib/snapshots/snapshots';
import type { Console } from '../console';
import type { Context } from '../context';
import { runUnderWay } from './runs';
import { orNothing, readDoctorSummary, readHeadlines } from './doctor';
import { chartMarks } from './marks';
import { readNews } from './news';
import { onOutbox } from './outboxes';
import { seesAll } from './shown';
import { together } from './together';

/** Every outbox over the last hour, worst first; `soon`: what is recent will do. Readings are shared by all roles; what an error quotes is not. */
export async function readFleet(context: Context, soon = false): Promise<ExaminedFleet> {
  const { config, directory, snapshots, store } = context.console;
  const blocked = orNothing(context.console, [], () => blockedOutboxes(store.db, config.approvals, directory.ids));
  const [fleet, doctor, approvalsBlocked] = await Promise.all([snapshots.fleet(soon), readHeadlines(context), blocked]);
  const news = await readNews(context, fleet.entries, soon ? 100 : 300);
  const shown = (entry: FleetEntry): FleetLine => fleetLine({ ...entry, summary: shownSummary(context, entry.summary) });
  const lacks = lacksOf(context.console.carrier.carrying());
  return { ...fleet, doctor, news, approvalsBlocked, lacks, entries: fleet.entries.map(shown) };
}

/** One outbox with its figures of a window, the history for its charts, its marks and the doctor's findings. */
export async function readOutbox(context: Context, outboxId: string, window: Window, charts: Charts): Promise<MarkedSnapshot> {
  const snapshot = await context.console.snapshots.outbox(outboxId, window, charts);
  const bounds = boundsOf(snapshot.series);
  const stopped = snapshot.summary.diagnosis.verdict === 'relay_stopped' && can(context.actor.role, 'event:operate');
  const [marks, doctor, run, sessions] = await Promise.all([
    bounds === null ? [] : chartMarks(context, { outbox: outboxId, ...bounds }),
    readDoctorSummary(context, outboxId),
    runUnderWay(context, outboxId),
    stopped ? readSessions(context, outboxId).catch(() => undefined) : undefined,
  ]);
  return { ...snapshot, summary: shownSummary(context, snapshot.summary), marks, doctor, run, sessions };
}

const readSessions = (context: Context, outboxId: string): Promise<MarkedSnapshot['sessions']> =>
  onOutbox(context, outboxId, (outbox) =>
    together(outbox, ['sessions'], () => outbox.database.read((db) => outbox.database.engine.otherSessions(db))),
  );

/** What was published of some types over a window, without its last step, which is still under way. */
export async function readTypeTrends(context: Context, outboxId: string, window: Window, types: readonly string[]): Promise<TypeTrend[]> {
  const series = await context.console.snapshots.seriesOfTypes(outboxId, { window }, types);
  return series.map(({ points }, index) => ({
    type: types[index] ?? '',
    published: points.slice(0, -1).map(({ published }) => published),
  }));
}

function boundsOf({ points, stepSeconds }: Series): { from: string; to: string } | null {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return null;
  return { from: first.at, to: new Date(Date.parse(last.at) + stepSeconds * 1_000).toISOString() };
}

export const readSummary = async (context: Context, outboxId: string, window: Window): Promise<Summary> =>
  shownSummary(context, await context.console.snapshots.summary(outboxId, window));

export const readSeries = ({ console }: Context, outboxId: string, { span, type }: Charts): Promise<Series> =>
  console.snapshots.series(outboxId, span, type);

/** Evidence may quote the most frequent error, and with it masked values: only roles that see errors whole get it. */
export function shownSummary<S extends Pick<Summary, 'diagnosis'>>(context: Context, summary: S): S {
  const evidence = summary.diagnosis.evidence.filter(({ values }) => seesAll(context) || !('error' in values));
  return { ...summary, diagnosis: { ...summary.diagnosis, evidence } };
}

export const readMetrics = async (console: Console): Promise<Response> =>
  new Response(await console.exposition(), { headers: { 'Content-Type': CONTENT_TYPE } });
