import { useTranslations } from 'next-intl';
import type { FoundIn } from '@/lib/shared/lists/found';
import { useFormat } from '../figures/format';

/** What an outbox has to say of a key beside its events: why there may be others, and how far it was searched. */
export function useWhyOpen(): (part: Pick<FoundIn, 'why' | 'searched'>) => string[] {
  const t = useTranslations('find');
  const format = useFormat();
  return ({ why, searched }) => {
    if (why !== null) return [t(`why.${why}`)];
    if (searched === null || searched.complete) return [];
    const { rows, backTo } = searched;
    const said = { rows, back: backTo === null ? 'no' : 'yes', at: backTo === null ? '' : format.absolute(backTo) };
    return [t('why.incomplete'), t('searched', said)];
  };
}
