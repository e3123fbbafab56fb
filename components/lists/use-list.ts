import { usePathname } from 'next/navigation';
import { useTransition } from 'react';
import { BASE_PATH } from '@/lib/shared/base-path';
import type { ActionResult } from '@/lib/shared/problems';
import { useGo } from '../frame/go';
import { type Snapshot, usePolledSnapshot } from '../frame/live';

export interface ListOptions<F, S extends object> {
  name: readonly unknown[];
  filter: F;
  serialise: (filter: F) => URLSearchParams;
  /** The cursor of the page; null for the first one. */
  cursor: string | null;
  /** As in the URL; choosing columns reads nothing. */
  columns?: string | null;
  initial: S;
  load: (query: string) => Promise<ActionResult<S>>;
  paused?: boolean;
}

export type List<F, S extends Snapshot> = ReturnType<typeof useList<F, S>>;

/** A list's state is its URL: every change is a navigation, so that back, reload and a shared link show the same. */
export function useList<F, S extends Snapshot>(options: ListOptions<F, S>) {
  const { name, filter, serialise, cursor, columns = null, initial, load, paused } = options;
  const { go: goTo } = useGo();
  const pathname = usePathname();
  const [pending, start] = useTransition();
  const queryOf = (of: F, at: string | null): URLSearchParams => {
    const params = serialise(of);
    if (at !== null) params.set('cursor', at);
    return params;
  };
  const addressOf = (of: F, at: string | null, shown: string | null): string => {
    const params = queryOf(of, at);
    if (shown !== null) params.set('columns', shown);
    return params.size === 0 ? pathname : `${pathname}?${params.toString()}`;
  };
  const go = (of: F, at: string | null) => start(() => goTo((router) => router.push(addressOf(of, at, columns), { scroll: at !== null })));

  const query = queryOf(filter, cursor).toString();
  const polled = usePolledSnapshot<S>({ key: [...name, query], action: () => load(query), initial, paused });
  return {
    ...polled,
    filter,
    /** Filter and cursor as in the URL, and the filter alone. */
    query,
    filterQuery: serialise(filter).toString(),
    /** Not the first page. */
    turned: cursor !== null,
    pending,
    /** The rows are old or about to be replaced. */
    dimmed: pending || polled.failing !== null,
    /** Shows the first page of another filter; the chosen columns stay. */
    setFilter: (next: F) => go(next, null),
    turnTo: (at: string | null) => go(filter, at),
    setColumns: (shown: string) => window.history.replaceState(null, '', BASE_PATH + addressOf(filter, cursor, shown)),
  };
}
