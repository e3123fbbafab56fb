import { useCallback, useTransition } from 'react';
import { Link, useGo } from '../frame/go';
import { useParams, usePathname, useSearchParams } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { parseChartView, withChartView, type ChartView } from '@/lib/shared/figures/chart-view';
import { WINDOWS, type Window } from '@/lib/shared/figures/windows';
import { useConsole } from '../frame/console';
import { ChoiceBar, Select } from '../frame/controls';
import classes from '../frame/frame.module.css';
import { outboxHref } from '../hrefs';

/** Selected while the charts show a custom span. */
const OWN = 'own';

const SCREENS = [
  { key: 'overview', path: '' },
  { key: 'events', path: '/events' },
  { key: 'deadLetters', path: '/dead-letters' },
  { key: 'settings', path: '/settings' },
] as const;

/** The screens of the current outbox, and the window on its overview. Nothing on other pages, or for an unknown outbox. */
export function OutboxBar() {
  const { outboxes, changeable } = useConsole();
  const words = useTranslations('frame');
  const pathname = usePathname();
  const { outbox } = useParams<{ outbox?: string }>();
  const found = outboxes.find(({ id }) => encodeURIComponent(id) === outbox);
  if (found === undefined) return null;
  const base = outboxHref(found.id);
  const rest = pathname.slice(base.length);
  const here = SCREENS.findLast(({ path }) => rest === path || (path !== '' && rest.startsWith(`${path}/`)))?.key;
  return (
    <div className={classes.outboxBar}>
      <nav aria-label={words('screens')}>
        <ul className={classes.tabs}>
          {SCREENS.filter(({ key }) => key !== 'settings' || changeable.includes(found.id) || here === 'settings').map(({ key, path }) => (
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
  const [pending, change] = useViewChange('replace');
  const { window, span, type } = parseChartView(new URLSearchParams(useSearchParams()));
  const own = !('window' in span);
  return (
    <ChoiceBar
      aria-label={words('window')}
      aria-busy={pending}
      data={[
        ...WINDOWS.map((value) => ({ value, label: words(`windows.${value}`) })),
        ...(own ? [{ value: OWN, label: words('customWindow') }] : []),
      ]}
      value={own ? OWN : window}
      onChange={(value) => {
        if (value !== OWN) change({ span: { window: value as Window }, type });
      }}
    />
  );
}

/** Shows another span or type of the charts by changing the URL, so that a link shows the same. */
export function useViewChange(how: 'push' | 'replace'): [boolean, (view: Pick<ChartView, 'span' | 'type'>) => void] {
  const { go } = useGo();
  const pathname = usePathname();
  const search = useSearchParams();
  const [pending, startTransition] = useTransition();
  const change = useCallback(
    (view: Pick<ChartView, 'span' | 'type'>) =>
      startTransition(() =>
        go((router) => router[how](`${pathname}?${withChartView(new URLSearchParams(search), view)}`, { scroll: false })),
      ),
    [go, how, pathname, search],
  );
  return [pending, change];
}

/** Opens another outbox: on the same list, or its overview. */
export function OutboxSwitcher() {
  const { outboxes } = useConsole();
  const words = useTranslations('frame');
  const { go } = useGo();
  const pathname = usePathname();
  const { outbox: current } = useParams<{ outbox?: string }>();
  const screen = /^\/outboxes\/[^/]+\/(events|dead-letters)/.exec(pathname)?.[1];
  return (
    <Select
      className={classes.switcher}
      aria-label={words('outbox')}
      data={[{ value: '', label: words('allOutboxes') }, ...outboxes.map(({ id, name }) => ({ value: id, label: name }))]}
      value={current === undefined ? '' : decodeURIComponent(current)}
      onChange={({ currentTarget: { value: id } }) => go((router) => router.push(id === '' ? '/' : outboxHref(id, screen && `/${screen}`)))}
    />
  );
}
