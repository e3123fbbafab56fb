import { useTranslations } from 'next-intl';
import type { Run } from '@/lib/shared/runs/runs';
import { useOutboxName } from '../frame/console';
import { type Format, useFormat } from '../figures/format';

/** What became of a run's events, in the order in which a bar shows them; together they are all of them. */
type Shares = Record<'out' | 'done' | 'failed' | 'waiting' | 'other' | 'skipped' | 'remaining' | 'unknown', number>;

export function sharesOf({ followed, goneIsOut, changed, conflicted, locked, failed, unknown, remaining, fates }: Run): Shares {
  const { published, gone, failedAgain, waiting, notKnown } = fates;
  const skipped = conflicted + locked + failed;
  if (!followed) return { out: 0, done: changed, failed: 0, waiting: 0, other: 0, skipped, remaining, unknown };
  const [out, other] = goneIsOut ? [published + gone, notKnown] : [published, gone + notKnown];
  return { out, done: 0, failed: failedAgain, waiting, other, skipped, remaining, unknown };
}

export const isEnded = ({ state }: Pick<Run, 'state'>): boolean => state === 'done' || state === 'cancelled';

/** Green only where nothing is left to look at; red where events failed again or it stopped by itself. */
export function hueOfRun(run: Run): 'green' | 'red' | 'amber' | 'grey' {
  const { failed, skipped, waiting, other } = sharesOf(run);
  if (run.state === 'paused')
    return run.because === 'operator' || run.because === 'unavailable' ? 'grey' : run.because === 'first_is_out' ? 'amber' : 'red';
  if (run.state !== 'done') return 'grey';
  return failed > 0 ? 'red' : skipped + waiting + other > 0 ? 'amber' : 'green';
}

type Say = ReturnType<typeof useTranslations<'runs'>>;

/** "3,998 out, 9 failed again, 5 skipped": what there is of each. */
function partsOf(t: Say, run: Run): string {
  const { out, done, failed, skipped } = sharesOf(run);
  const { fates, unknown, remaining } = run;
  const gone = run.goneIsOut ? 0 : fates.gone;
  const counts = { out, done, failedAgain: failed, skipped, waiting: fates.waiting, gone, notKnown: fates.notKnown, unknown, remaining };
  const names = Object.keys(counts) as (keyof typeof counts)[];
  const said = names.filter((name) => counts[name] > 0).map((name) => t(`parts.${name}`, { count: counts[name] }));
  return said.join(', ');
}

/** A run in one sentence, with what to do where it does not go on by itself. */
export function sayRun(t: Say, format: Pick<Format, 'latency'>, run: Run, outbox: string): { title: string; advice: string | null } {
  const { state, because, requested, changed, remaining, unknown, followed, window, firstOutMs, before, maker } = run;
  const { out, failed, waiting } = sharesOf(run);
  const time = firstOutMs === null ? '' : format.latency(firstOutMs);
  const alone = (title: string) => ({ title, advice: null });
  if (state === 'paused') {
    const why = because ?? 'operator';
    const known = firstOutMs === null ? 'no' : 'yes';
    const title = t(`because.${why}`, { remaining, changed, failed, maker, time, known });
    return { title, advice: (unknown > 0 ? `${t('says.unsettled', { unknown })} ` : '') + t(`advice.${why}`) };
  }
  if (state === 'queued') return alone(t('says.queued', { before, outbox }));
  if (state === 'cancelled') return alone(t('says.cancelled', { parts: partsOf(t, run) }));
  if (state === 'done') {
    if (out === requested) return alone(t('says.allOut', { requested }));
    if (!followed && changed === requested) return alone(t('says.allDone', { requested }));
    return alone(t('says.done', { requested, parts: partsOf(t, run) }));
  }
  if (unknown > 0) return alone(t('says.unsettled', { unknown }));
  if (!followed) return alone(t('says.batches', { changed, requested }));
  if (remaining === 0 && waiting > 0 && requested > 1) return alone(t('says.last', { requested, waiting }));
  if (changed === 0) return alone(t('says.first', { requested }));
  if (changed === 1 && waiting > 0) return alone(t('says.watching', { requested }));
  const next = Math.min(window.next, remaining);
  if (changed === 1 && out === 1 && firstOutMs !== null && next > 0) return alone(t('says.firstOut', { requested, time, next }));
  return alone(t('says.going', { changed, requested, out, waiting, next }));
}

export const useRunSentence = (run: Run): ReturnType<typeof sayRun> =>
  sayRun(useTranslations('runs'), useFormat(), run, useOutboxName()(run.outbox));
