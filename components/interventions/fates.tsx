import { useQuery } from '@tanstack/react-query';
import { Loader } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { failuresOf, type Fates, isFollowed, outOf, underWay } from '@/lib/shared/changes/fates';
import type { InterventionResult } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import { RelativeTime } from '../figures/format';
import { useConsole } from '../frame/console';
import { valueOf } from '../frame/use-change';
import classes from './intervention-dialog.module.css';
import { lookAfterMs } from './send';

export interface Followed {
  /** null before the first answer. */
  fates: Fates | null;
  /** The last look failed: what is known is older. */
  late: boolean;
}

/** What becomes of the events of a result, looked at again until none is under way; null if they were not sent again. */
export function useFates(outbox: string, result: InterventionResult | null): Followed | null {
  const { follow } = useConsole().interventions;
  const intervention = result?.interventionId ?? '';
  const sent = result !== null && isFollowed(result.operation) && result.changed.length > 0;
  const { data, isError } = useQuery({
    queryKey: ['fates', outbox, intervention],
    enabled: sent,
    queryFn: () => valueOf(follow({ outbox, intervention })),
    refetchInterval: ({ state }) => (state.data !== undefined && underWay(state.data) === 0 ? false : lookAfterMs(state)),
    refetchIntervalInBackground: true,
    staleTime: Infinity,
  });
  return sent ? { fates: data ?? null, late: isError } : null;
}

/** Green only when all are out. */
export function hueOf({ fates }: Followed): 'green' | 'red' | 'grey' {
  if (fates === null) return 'grey';
  if (failuresOf(fates) > 0) return 'red';
  return outOf(fates) === fates.events.length ? 'green' : 'grey';
}

const sameOf = (fates: Fates): 'all' | 'none' | 'some' | 'unknown' =>
  fates.sameError === null ? 'unknown' : fates.sameError === 0 ? 'none' : fates.sameError === failuresOf(fates) ? 'all' : 'some';

/** A result as a title: how far its events are; what changed before the first look, and where they were not sent again. */
export function useResultSentence() {
  const t = useTranslations('interventions');
  return ({ outcome, changed, skipped }: InterventionResult, followed: Followed | null): string => {
    if (followed?.fates == null) return t(`outcome.${outcome}`, { changed: changed.length, skipped: skipped.length });
    const { fates } = followed;
    const [out, all, died] = [outOf(fates), fates.events.length, fates.fates.failedAgain];
    const word = died > 0 ? 'titleDied' : out === all ? 'titleOut' : underWay(fates) > 0 ? 'titleUnderWay' : 'titleSome';
    const title = t(`fates.${word}`, { died, out, all });
    return skipped.length === 0 ? title : `${title} · ${t('run.skipped', { skipped: skipped.length })}`;
  };
}

/** "12 out · 30 waiting · 3 died again, same error", and that error. */
export function FateLine({ followed: { fates, late } }: { followed: Followed }) {
  const t = useTranslations('interventions.fates');
  if (fates === null) {
    return (
      <div className={classes.fate} role="status">
        {t('looking')} <Loader size={14} type="dots" aria-hidden />
      </div>
    );
  }
  const { published, gone, waiting, retrying, failedAgain, notKnown } = fates.fates;
  const same = t('same', { same: sameOf(fates), count: fates.sameError ?? 0 });
  const parts = [
    ...(published > 0 || (gone === 0 && failuresOf(fates) + notKnown + waiting === 0) ? [t('out', { count: published })] : []),
    ...(gone > 0 ? [t(fates.goneIsOut ? 'goneOut' : 'gone', { count: gone })] : []),
    ...(waiting > 0 ? [t('waiting', { count: waiting })] : []),
    ...(retrying > 0 ? [t('retrying', { count: retrying }) + (failedAgain > 0 ? '' : same)] : []),
    ...(failedAgain > 0 ? [t('died', { count: failedAgain }) + same] : []),
    ...(notKnown > 0 ? [t('notKnown', { count: notKnown })] : []),
  ];
  return (
    <div className={classes.fate} data-hue={hueOf({ fates, late })}>
      <span role="status">{parts.join(' · ')}</span>
      {late && <span className={classes.late}>{t.rich('late', { ago: () => <RelativeTime at={fates.asOf} /> })}</span>}
      {failuresOf(fates) > 0 && fates.error !== null && <bdi className={classes.triedError}>{visibleText(fates.error)}</bdi>}
    </div>
  );
}
