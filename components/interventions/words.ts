import { useTranslations } from 'next-intl';
import type { SkipCode, Skipped } from '@/lib/shared/model';
import type { State } from '@/lib/shared/states';
import { useAgo } from '../figures/ago';
import type { Obstacle } from './operation-choices';

/** The name of an operation; its key where the catalogue does not know it. */
export function useOperationName(): (operation: string) => string {
  const t = useTranslations('operations');
  return (operation) => (t.has(`${operation}.name`) ? t(`${operation}.name`) : operation);
}

/** Why an operation cannot be chosen, in a sentence. */
export function useObstacleText(): (obstacle: Obstacle) => string {
  const t = useTranslations();
  return (obstacle) => {
    if (obstacle.kind === 'states') {
      return t('interventions.onlyFrom', { states: obstacle.from.map((state: State) => t(`states.${state}`)).join(', ') });
    }
    return refusal(t, obstacle.code);
  };
}

/** Why a row was or would be left alone. `detail` says what the row says now. */
export function useSkipText(): (code: SkipCode | null, detail?: Skipped['detail']) => string {
  const t = useTranslations();
  const ago = useAgo();
  return (code, detail) => {
    if (detail?.because !== undefined) return refusal(t, detail.because);
    if (code === null) return t('refusals.not_supported');
    return t(`skips.${code}`, {
      state: detail?.state === undefined ? 'none' : t(`states.${detail.state}`),
      ago: detail?.at == null ? 'none' : ago(detail.at),
    });
  };
}

/** A refusal of the shape, or a skip code where the server answers with one. */
export function useBecauseText(): (code: string) => string {
  const t = useTranslations();
  return (code) => refusal(t, code);
}

function refusal(t: ReturnType<typeof useTranslations>, code: string): string {
  if (t.has(`refusals.${code}`)) return t(`refusals.${code}`);
  if (t.has(`skips.${code}`)) return t(`skips.${code}`, { state: 'none', ago: 'none' });
  return t('refusals.not_supported');
}
