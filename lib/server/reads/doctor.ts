import 'server-only';
import { readerOf } from '@/lib/messages/reader';
import { summaryOf, type DoctorHeadline, type DoctorSnapshot, type DoctorSummary, type Silence } from '@/lib/shared/doctor';
import { examinationsAsCsv, examinationsAsMarkdown } from '@/lib/shared/doctor-text';
import type { Verdict } from '@/lib/shared/figures/verdicts';
import { Problem } from '@/lib/shared/problems';
import { recordDeed } from '@/lib/store/audit';
import { putSilence, removeSilence } from '@/lib/store/doctor';
import type { Context } from '../context';
import type { SilenceRequest } from '../schemas';

/** What the doctor knows of all outboxes or of one, and which are not healthy. Throws Problem `not_found`. */
export async function readDoctor({ console }: Context, outbox?: string): Promise<DoctorSnapshot> {
  const { snapshots, examiner } = console;
  const known = async (): Promise<[string, Verdict][]> =>
    outbox === undefined
      ? (await snapshots.fleet()).entries.map((one) => [one.outbox.id, one.summary.diagnosis.verdict])
      : [[outbox, (await snapshots.diagnosis(outbox))?.verdict ?? 'healthy']];
  const [snapshot, verdicts] = await Promise.all([examiner.snapshot(outbox), known()]);
  return { ...snapshot, verdicts: Object.fromEntries(verdicts.filter(([, verdict]) => verdict !== 'healthy')) };
}

/** Examines one outbox and waits at most 12 s; or starts to examine all and returns what is known. Throws Problem `not_found`. */
export async function examineNow(context: Context, outbox: string | null): Promise<DoctorSnapshot> {
  const { examiner } = context.console;
  if (outbox === null) examiner.examineAll();
  else await examiner.examine(outbox);
  return readDoctor(context, outbox ?? undefined);
}

/** The worst finding by outbox, for the fleet; none while the store is unreachable, so that the rest is still shown. */
export const readHeadlines = ({ console }: Context): Promise<Record<string, DoctorHeadline>> =>
  orNothing(console, {}, async () => Object.fromEntries(await console.examiner.headlines()));

/** The doctor's findings in one outbox; null if it is not examined, or the store is unreachable. Throws Problem `not_found`. */
export async function readDoctorSummary({ console }: Context, outbox: string): Promise<DoctorSummary | null> {
  console.directory.settings(outbox);
  return orNothing(console, null, async () => {
    const [examination] = (await console.examiner.snapshot(outbox)).examinations;
    if (examination === undefined || (examination.problem !== null && examination.findings.length === 0)) return null;
    return summaryOf(examination.findings);
  });
}

/** `nothing`, with a word in the log, where the store does not answer. */
export const orNothing = <T>({ log }: Context['console'], nothing: T, read: () => Promise<T>): Promise<T> =>
  read().catch((error: unknown) => {
    log.warn({ err: error }, 'the store could not be read');
    return nothing;
  });

/** Silences a finding, with an audit entry. Throws Problem `not_found` for an unknown outbox or finding. */
export async function silenceFinding(context: Context, { outbox, finding, reason }: SilenceRequest): Promise<Silence> {
  const { examinations } = await context.console.examiner.snapshot(outbox);
  if (!examinations.some((one) => one.findings.some(({ id }) => id === finding)))
    throw new Problem('not_found', 'The doctor has no such finding now: it may have gone');
  return context.console.store.db.transaction().execute(async (db) => {
    const silence = await putSilence(db, { outbox, finding, reason, actor: context.actor });
    await recordDeed(db, context.actor, { operation: 'doctor_silence', outbox, reason, after: { finding, reason } });
    return silence;
  });
}

/** Lifts a silence, with an audit entry. Throws Problem `not_found`. */
export async function liftSilence(context: Context, { outbox, finding }: Omit<SilenceRequest, 'reason'>): Promise<Silence> {
  return context.console.store.db.transaction().execute(async (db) => {
    const silence = await removeSilence(db, outbox, finding);
    if (silence === null) throw new Problem('not_found', 'This finding is not silenced');
    await recordDeed(db, context.actor, { operation: 'doctor_lift', outbox, reason: finding, before: { finding, reason: silence.reason } });
    return silence;
  });
}

/** Examinations as a file to download, in the reader's language. */
export async function exportExaminations({ locale, timeZone }: Context, { examinations }: DoctorSnapshot, format: 'markdown' | 'csv') {
  const reader = await readerOf(locale, timeZone);
  const [text, type, ending] =
    format === 'csv'
      ? [examinationsAsCsv(examinations, reader), 'text/csv; charset=utf-8; header=present', 'csv']
      : [examinationsAsMarkdown(examinations, reader), 'text/markdown; charset=utf-8', 'md'];
  return new Response(text, { headers: { 'Content-Type': type, 'Content-Disposition': `attachment; filename="doctor.${ending}"` } });
}
