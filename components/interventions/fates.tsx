import { useQuery } from '@tanstack/react-query';
import { Loader } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { failuresOf, type Fates, FOLLOWED_AT_ONCE, isFollowed, joinFates, outOf, underWay } from '@/lib/shared/changes/fates';
import type { InterventionResult } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import { RelativeTime } from '../figures/time';
import { useConsole } from '../frame/console';
import classes from './intervention-dialog.module.css';
import { lookAfterMs } from './send';

type Known = Readonly<Record<string, Fates>>;

/** While some of a large decision have not been looked at. */
const NEXT_MS = 250;

/** The interventions to ask after: those never looked at, then those looked at longest ago whose events are under way. */
export function dueOf(ids: readonly string[], known: Known): string[] {
  const open = ids.filter((id) => known[id] === undefined || underWay(known[id]) > 0);
  return open.toSorted((a, b) => (known[a]?.asOf ?? '').localeCompare(known[b]?.asOf ?? '')).slice(0, FOLLOWED_AT_ONCE);
}

export interface Followed {
  /** null before the first answer. */
  fates: Fates | null;
  /** Of the changed events, how many have not been looked at. */
  unseen: number;
  /** The last look failed: what is known is older. */
  late: boolean;
}

/** What becomes of the events of these results, looked at again until none is under way; null if they were not sent again. */
export function useFates(outbox: string, results: readonly InterventionResult[]): Followed | null {
  const { follow } = useConsole().interventions;
  const sent = results.filter(({ operation, changed }) => isFollowed(operation) && changed.length > 0);
  const ids = sent.map(({ interventionId }) => interventionId);
  const { data, isError } = useQuery({
    queryKey: ['fates', outbox, ids],
    enabled: ids.length > 0,
    queryFn: async ({ client, queryKey }): Promise<Known> => {
      const known = client.getQueryData<Known>(queryKey) ?? {};
      const answer = await follow({ outbox, interventions: dueOf(ids, known) });
      if (!answer.ok) throw new Error(answer.problem.code);
      return { ...known, ...answer.value };
    },
    refetchInterval: ({ state }) => {
      const { data: known = {}, errorUpdateCount } = state;
      if (dueOf(ids, known).length === 0) return false;
      return errorUpdateCount === 0 && ids.some((id) => known[id] === undefined) ? NEXT_MS : lookAfterMs(state);
    },
    refetchIntervalInBackground: true,
    staleTime: Infinity,
  });
  if (ids.length === 0) return null;
  const seen = sent.flatMap(({ interventionId }) => data?.[interventionId] ?? []);
  const unseen = sent.reduce((sum, { interventionId, changed }) => sum + (data?.[interventionId] === undefined ? changed.length : 0), 0);
  return { fates: joinFates(seen), unseen, late: isError };
}

/** Green only when all are out. */
export function hueOf({ fates, unseen }: Followed): 'green' | 'red' | 'grey' {
  if (fates === null) return 'grey';
  if (failuresOf(fates) > 0) return 'red';
  return unseen === 0 && outOf(fates) === fates.events.length ? 'green' : 'grey';
}

const sameOf = (fates: Fates): 'all' | 'none' | 'some' | 'unknown' =>
  fates.sameError === null ? 'unknown' : fates.sameError === 0 ? 'none' : fates.sameError === failuresOf(fates) ? 'all' : 'some';

/** A result as a title: how far its events are; what changed before the first look, and where they were not sent again. */
export function useResultSentence() {
  const t = useTranslations('interventions');
  return ({ outcome, changed, skipped }: InterventionResult, followed: Followed | null): string => {
    if (followed?.fates == null) return t(`outcome.${outcome}`, { changed: changed.length, skipped: skipped.length });
    const { fates, unseen } = followed;
    const [out, all, died] = [outOf(fates), fates.events.length + unseen, fates.fates.failedAgain];
    const open = underWay(fates) + unseen > 0;
    const title = t(`fates.${died > 0 ? 'titleDied' : out === all ? 'titleOut' : open ? 'titleUnderWay' : 'titleSome'}`, {
      died,
      out,
      all,
    });
    return skipped.length === 0 ? title : `${title} · ${t('run.skipped', { skipped: skipped.length })}`;
  };
}

/** "12 out · 30 waiting · 3 died again, same error", and that error. */
export function FateLine({ followed: { fates, unseen, late } }: { followed: Followed }) {
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
    ...(unseen > 0 ? [t('unseen', { count: unseen })] : []),
  ];
  return (
    <div className={classes.fate} data-hue={hueOf({ fates, unseen, late })}>
      <span role="status">{parts.join(' · ')}</span>
      {late && <span className={classes.late}>{t.rich('late', { ago: () => <RelativeTime at={fates.asOf} /> })}</span>}
      {failuresOf(fates) > 0 && fates.error !== null && <bdi className={classes.triedError}>{visibleText(fates.error)}</bdi>}
    </div>
  );
}
