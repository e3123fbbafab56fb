'use client';

import { useQuery } from '@tanstack/react-query';
import { TREND_TYPES_MAX, type TypeTrend } from '@/lib/shared/figures/chart-view';
import type { ActionResult } from '@/lib/shared/problems';
import type { Window } from '@/lib/shared/figures/windows';

export type TrendsAction = (input: { outbox: string; window: Window; types: string[] }) => Promise<ActionResult<TypeTrend[]>>;

/** A trend changes slowly beside the figures, and each type of it is a reading. */
const TREND_INTERVAL_MS = 60_000;

/** The flow of the first types of an outbox, read after the screen is there; undefined for a type until it is. */
export function useTypeTrends(
  outbox: string,
  window: Window,
  types: readonly string[],
  action: TrendsAction,
): (type: string) => (number | null)[] | undefined {
  const wanted = types.toSorted().slice(0, TREND_TYPES_MAX);
  const { data } = useQuery({
    queryKey: ['type-trends', outbox, window, wanted],
    queryFn: async () => {
      const result = await action({ outbox, window, types: wanted });
      return result.ok ? result.value : [];
    },
    enabled: wanted.length > 0,
    staleTime: TREND_INTERVAL_MS,
    refetchInterval: TREND_INTERVAL_MS,
    refetchOnWindowFocus: false,
    retry: false,
  });
  return (type) => data?.find((trend) => trend.type === type)?.published;
}
