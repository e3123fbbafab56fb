import { usePathname, useRouter } from 'next/navigation';
import { useCallback, useTransition } from 'react';
import { serialiseEventFilter } from '@/lib/shared/event-filter';
import type { EventFilter } from '@/lib/shared/model';

export interface ListUrl {
  /** True from the click until the new list is there. */
  pending: boolean;
  /** Shows the first page of another filter; the chosen columns stay. */
  setFilter: (filter: EventFilter) => void;
  /** Shows the page behind a cursor. */
  turnTo: (cursor: string | null) => void;
  setColumns: (columns: string) => void;
}

/** The list's state is its URL: every change is a navigation, so that back, reload and a sent link show the same. */
export function useListUrl(filter: EventFilter, columnsInUrl: string | null): ListUrl {
  const router = useRouter();
  const pathname = usePathname();
  const [pending, start] = useTransition();

  const go = useCallback(
    (next: EventFilter, cursor: string | null, columns: string | null, replace: boolean) => {
      const params = serialiseEventFilter(next);
      if (cursor !== null) params.set('cursor', cursor);
      if (columns !== null) params.set('columns', columns);
      const url = params.size === 0 ? pathname : `${pathname}?${params.toString()}`;
      start(() => (replace ? router.replace(url, { scroll: false }) : router.push(url, { scroll: cursor !== null })));
    },
    [router, pathname],
  );

  return {
    pending,
    setFilter: useCallback((next) => go(next, null, columnsInUrl, false), [go, columnsInUrl]),
    turnTo: useCallback((cursor) => go(filter, cursor, columnsInUrl, false), [go, filter, columnsInUrl]),
    setColumns: useCallback((columns) => go(filter, null, columns, true), [go, filter]),
  };
}
