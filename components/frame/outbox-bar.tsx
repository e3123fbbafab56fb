'use client';

import { useTransition } from 'react';
import Link from 'next/link';
import { useParams, usePathname, useRouter, useSearchParams } from 'next/navigation';
import { SegmentedControl } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { DEFAULT_WINDOW, isWindow, type Window } from '@/lib/shared/windows';
import classes from './frame.module.css';

/** The windows a table can answer for by itself; longer ones need collected history. */
const OFFERED: readonly Window[] = ['15m', '1h', '24h', '7d'];

const SCREENS = [
  { key: 'overview', path: '' },
  { key: 'events', path: '/events' },
  { key: 'deadLetters', path: '/dead-letters' },
] as const;

/** The screens of the outbox in view, and the window where a screen has one. Nothing on other pages, or for an outbox that is not there. */
export function OutboxBar({ outboxes }: { outboxes: { id: string }[] }) {
  const words = useTranslations('frame');
  const pathname = usePathname();
  const { outbox } = useParams<{ outbox?: string }>();
  if (outbox === undefined || !outboxes.some(({ id }) => encodeURIComponent(id) === outbox)) return null;
  const base = `/outboxes/${outbox}`;
  const rest = pathname.slice(base.length);
  const here = SCREENS.findLast(({ path }) => rest === path || (path !== '' && rest.startsWith(`${path}/`)))?.key;
  return (
    <div className={classes.outboxBar}>
      <nav aria-label={words('screens')}>
        <ul className={classes.tabs}>
          {SCREENS.map(({ key, path }) => (
            <li key={key}>
              <Link
                href={`${base}${path}`}
                className={classes.tab}
                aria-current={here === key ? (rest === path ? 'page' : 'true') : undefined}
              >
                {words(`screen.${key}`)}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      {here === 'overview' && <WindowSelect />}
    </div>
  );
}

function WindowSelect() {
  const words = useTranslations('frame');
  const router = useRouter();
  const pathname = usePathname();
  const search = useSearchParams();
  const [pending, startTransition] = useTransition();
  const given = search.get('window');
  const window = isWindow(given) ? given : DEFAULT_WINDOW;
  return (
    <SegmentedControl
      size="xs"
      aria-label={words('window')}
      aria-busy={pending}
      data={OFFERED.map((value) => ({ value, label: words(`windows.${value}`) }))}
      value={window}
      onChange={(value) => {
        const next = new URLSearchParams(search);
        next.set('window', value);
        startTransition(() => router.replace(`${pathname}?${next.toString()}`, { scroll: false }));
      }}
    />
  );
}
