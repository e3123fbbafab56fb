import { usePathname, useRouter } from 'next/navigation';
import { useCallback, useTransition } from 'react';
import { serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import type { EventFilter } from '@/lib/shared/model';

export interface ListUrl {
  /** True from the click until the new list is there. */
  pending: boolean;
  /** Shows the first page of another filter; the chosen columns stay. */
  setFilter: (filter: EventFilter) => void;
  /** Shows the page behind a cursor. */
  turnTo: (cursor: string | null) => void;
  /** Writes the chosen columns into the URL; nothing is read again for them. */
  setColumns: (columns: string) => void;
}

/** The list's state is its URL: every change is a navigation, so that back, reload and a sent link show the same. */
export function useListUrl(filter: EventFilter, cursor: string | null, columnsInUrl: string | null): ListUrl {
  const router = useRouter();
  const pathname = usePathname();
  const [pending, start] = useTransition();

  const urlOf = useCallback(
    (next: EventFilter, at: string | null, columns: string | null) => {
      const params = serialiseEventFilter(next);
      if (at !== null) params.set('cursor', at);
      if (columns !== null) params.set('columns', columns);
      return params.size === 0 ? pathname : `${pathname}?${params.toString()}`;
    },
    [pathname],
  );
  const go = (next: EventFilter, at: string | null) => start(() => router.push(urlOf(next, at, columnsInUrl), { scroll: at !== null }));

  return {
    pending,
    setFilter: (next) => go(next, null),
    turnTo: (at) => go(filter, at),
    setColumns: (columns) => window.history.replaceState(null, '', urlOf(filter, cursor, columns)),
  };
}
