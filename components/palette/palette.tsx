import { useDebouncedValue } from '@mantine/hooks';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import {
  IconActivity,
  IconChecklist,
  IconChecks,
  IconDatabaseSearch,
  IconFileText,
  IconGauge,
  IconListDetails,
  IconListSearch,
  IconSearch,
  IconSkull,
  IconStethoscope,
  IconUserCheck,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useEffectEvent, useLayoutEffect, type ReactNode } from 'react';
import { type Found, type FoundWhy, keyProblem, leftOpen } from '@/lib/shared/lists/found';
import type { Action } from '@/lib/shared/problems';
import { groupBy } from '@/lib/shared/group-by';
import { StateMark } from '../figures/mark';
import { useConsole, useMay, useOutboxName } from '../frame/console';
import { useGo } from '../frame/go';
import { valueOf } from '../frame/use-change';
import { doctorHref, eventHref, findHref, outboxHref } from '../hrefs';
import '@mantine/spotlight/styles.css';

/** The palette's own store: whether it is open. */
export const [paletteStore, palette] = createSpotlight();

/** The page of the key shows more. */
const EVENTS_OF_OUTBOX = 5;

export interface PaletteProps {
  text: string;
  onText: (text: string) => void;
  /** Enter was pressed before there was a result: the first one opens. */
  entered: boolean;
  onEntered: (entered: boolean) => void;
  onClose: () => void;
  find: Action<{ key: string }, Found>;
}

interface Target {
  href: string;
  label: string;
  /** More words it is found by. */
  words: string;
  icon: ReactNode;
  /** Shown only once something is typed. */
  further?: boolean;
}

export function Palette({ find, text, onText, entered, onEntered, onClose }: PaletteProps) {
  const t = useTranslations('palette');
  const whys = useTranslations('find.why');
  const { go: goTo } = useGo();
  const { outboxes } = useConsole();
  const mayDetect = useMay('account:manage');
  const outboxName = useOutboxName();
  const wanted = text.trim();
  const search = useEventSearch(wanted === '' ? '' : text, find);

  const screens: Target[] = [
    { href: '/', label: t('screen.fleet'), words: 'fleet', icon: <IconGauge size={16} /> },
    { href: '/find', label: t('screen.find'), words: 'find key order', icon: <IconListSearch size={16} /> },
    { href: '/dead-letters', label: t('screen.deadLetters'), words: 'dead letters', icon: <IconSkull size={16} /> },
    { href: '/plans', label: t('screen.plans'), words: 'plans runs', icon: <IconChecklist size={16} /> },
    { href: '/approvals', label: t('screen.approvals'), words: 'approvals', icon: <IconUserCheck size={16} /> },
    { href: '/audit', label: t('screen.audit'), words: 'audit', icon: <IconFileText size={16} /> },
    { href: '/doctor', label: t('screen.doctor'), words: 'doctor', icon: <IconStethoscope size={16} /> },
    ...(mayDetect
      ? [{ href: '/detect', label: t('screen.detect'), words: 'detect find outboxes', icon: <IconDatabaseSearch size={16} /> }]
      : []),
  ];
  const ofOutboxes: Target[] = outboxes.flatMap(({ id, name }) => {
    const further = (key: 'events' | 'deadLetters' | 'doctor' | 'settings', href: string, words: string, icon: ReactNode): Target => ({
      href,
      label: t(`${key}Of`, { outbox: name }),
      words: `${id} ${words}`,
      icon,
      further: true,
    });
    return [
      { href: outboxHref(id), label: name, words: id, icon: <IconActivity size={16} /> },
      further('events', outboxHref(id, '/events'), 'events', <IconListDetails size={16} />),
      further('deadLetters', outboxHref(id, '/dead-letters'), 'dead letters', <IconSkull size={16} />),
      further('doctor', doctorHref(id), 'doctor', <IconStethoscope size={16} />),
      further('settings', outboxHref(id, '/settings'), 'settings proof', <IconChecks size={16} />),
    ];
  });
  const parts = wanted.toLowerCase().split(/\s+/);
  const matching = (targets: Target[]) =>
    targets.filter(({ label, words }) => parts.every((part) => `${label} ${words}`.toLowerCase().includes(part)));
  const shownScreens = matching(screens);
  const shownOutboxes = wanted === '' ? ofOutboxes.filter(({ further }) => further !== true) : matching(ofOutboxes);
  const go = (href: string) => () => goTo((router) => router.push(href));
  const events = search.outboxes.flatMap((part) =>
    part.events.slice(0, EVENTS_OF_OUTBOX).map((event) => ({ outbox: part.outbox, ...event })),
  );
  const targets = [...shownOutboxes, ...shownScreens];
  const places = groupBy(
    search.outboxes.filter((part) => leftOpen(part) !== null),
    leftOpen,
  );
  const nothing = shownScreens.length + shownOutboxes.length + events.length === 0;
  const fate = search.status === 'done' && search.unsearched !== true && (events.length > 0 || nothing) && (
    <Spotlight.Action onClick={go(findHref(text))} label={t('fate', { key: wanted })} leftSection={<IconListSearch size={16} />} />
  );
  const found = [...events.map(({ outbox, id }) => `${outbox} ${id}`), ...targets.map(({ href }) => href), fate !== false].join('\n');

  return (
    <Spotlight.Root
      store={paletteStore}
      query={text}
      onQueryChange={onText}
      onSpotlightClose={onClose}
      shortcut={null}
      scrollable
      maxHeight={420}
      aria-label={t('label')}
    >
      <Spotlight.Search
        placeholder={t('placeholder')}
        aria-label={t('placeholder')}
        leftSection={<IconSearch size={16} aria-hidden />}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && search.status === 'searching' && nothing) onEntered(true);
        }}
      />
      <Spotlight.ActionsList id={LIST_ID}>
        {events.length > 0 && (
          <Spotlight.ActionsGroup label={t('events')}>
            {events.map((event) => (
              <Spotlight.Action
                key={`${event.outbox} ${event.id}`}
                onClick={go(eventHref(event.outbox, event.id))}
                label={event.type ?? event.id}
                description={[event.id, event.aggregateId, t('in', { outbox: outboxName(event.outbox) })].filter(Boolean).join(' · ')}
                rightSection={<StateMark state={event.state} />}
              />
            ))}
            {fate}
          </Spotlight.ActionsGroup>
        )}
        <TargetGroup label={t('outboxes')} targets={shownOutboxes} go={go} />
        <TargetGroup label={t('screens')} targets={shownScreens} go={go} />
        {search.status === 'searching' && nothing && <Spotlight.Empty>{t('searching')}</Spotlight.Empty>}
        {search.status === 'failed' && <Spotlight.Empty>{t('failed')}</Spotlight.Empty>}
        {nothing && fate}
        {search.status === 'done' && nothing && !places.has('not_answered') && !places.has('unavailable') && (
          <Spotlight.Empty>{t('noEvent', { gaps: search.unsearched === true ? 1 : places.size })}</Spotlight.Empty>
        )}
        <FirstSelected found={found} goThere={search.status !== 'searching' && entered} onGone={() => onEntered(false)} />
        {[...places].map(([why, parts]) => {
          const names = parts.map(({ outbox }) => outboxName(outbox)).join(', ');
          return why !== null && <Spotlight.Empty key={why}>{t('gaps', { outboxes: names, why: whys(why) })}</Spotlight.Empty>;
        })}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

function TargetGroup({ label, targets, go }: { label: string; targets: Target[]; go: (href: string) => () => void }) {
  if (targets.length === 0) return null;
  return (
    <Spotlight.ActionsGroup label={label}>
      {targets.map((target) => (
        <Spotlight.Action key={target.href} onClick={go(target.href)} label={target.label} leftSection={target.icon} />
      ))}
    </Spotlight.ActionsGroup>
  );
}

const LIST_ID = 'palette-list';

/** Selects the first result, which Enter opens, once it is shown: Spotlight does so when the text changes, but not for later results. */
function FirstSelected({ found, goThere, onGone }: { found: string; goThere: boolean; onGone: () => void }) {
  const gone = useEffectEvent(onGone);
  useLayoutEffect(() => {
    const [first, ...others] = document.getElementById(LIST_ID)?.querySelectorAll<HTMLElement>('[data-action]') ?? [];
    if (first === undefined) return;
    for (const other of others) other.removeAttribute('data-selected');
    first.setAttribute('data-selected', 'true');
    paletteStore.updateState((state) => ({ ...state, selected: 0 }));
    if (!goThere) return;
    first.click();
    gone();
  }, [found, goThere]);
  return null;
}

/** An id has at least this many characters; shorter text is a name. */
const ID_LENGTH = 2;
const TYPING_PAUSE_MS = 250;
/** If an outbox does not answer, the search is repeated after this time, at most AGAIN_TIMES. */
const AGAIN_MS = 1_500;
const AGAIN_TIMES = 3;
/** What may be otherwise in a moment. */
const PASSING: readonly (FoundWhy | null)[] = ['not_answered', 'unavailable', 'searching'];

const NOTHING: Found['outboxes'] = [];

interface EventSearch {
  outboxes: Found['outboxes'];
  status: 'idle' | 'searching' | 'done' | 'failed';
  /** Not looked for among ids: too short, or too long. */
  unsearched?: boolean;
}

/** Searches once typing pauses, and again while an outbox does not answer; outdated results are dropped. */
function useEventSearch(wanted: string, find: PaletteProps['find']): EventSearch {
  const [text] = useDebouncedValue(wanted, TYPING_PAUSE_MS);
  const asking = wanted.length >= ID_LENGTH && keyProblem(wanted) === null;
  const { data, isError } = useQuery({
    queryKey: ['find-event', text],
    enabled: asking && text === wanted,
    queryFn: () => valueOf(find({ key: text })),
    refetchInterval: ({ state: { data: found, status, dataUpdateCount, errorUpdateCount } }) => {
      const open = status === 'error' || found?.outboxes.some(({ why }) => PASSING.includes(why)) === true;
      return open && dataUpdateCount + errorUpdateCount <= AGAIN_TIMES && AGAIN_MS;
    },
    refetchOnWindowFocus: false,
    gcTime: AGAIN_MS,
  });
  if (!asking) return { outboxes: NOTHING, status: wanted === '' ? 'idle' : 'done', unsearched: true };
  if (isError && text === wanted) return { outboxes: NOTHING, status: 'failed' };
  if (data === undefined || text !== wanted) return { outboxes: NOTHING, status: 'searching' };
  return { outboxes: data.outboxes, status: 'done' };
}
