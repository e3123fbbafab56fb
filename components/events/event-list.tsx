import { Anchor, type ButtonProps, CloseButton, Title } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { type ReactNode, type RefObject, useEffect, useReducer, useRef, useState } from 'react';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { countFilters, type FilterErrors, type FilterField, serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import {
  type EventFilter,
  type EventPage,
  type EventsSnapshot,
  INTERVENTION_EVENTS_MAX,
  type InterventionResult,
  type OutboxInfo,
} from '@/lib/shared/model';
import { sumText } from '@/lib/shared/text/money';
import { useFormat } from '../figures/format';
import { useMay } from '../frame/console';
import type { Snapshot } from '../frame/live';
import { Notice } from '../frame/note';
import { useShortcuts } from '../frame/shortcuts';
import { TextButton } from '../frame/controls';
import { PlanButton } from '../interventions/plan-button';
import {
  attemptsOf,
  OPERATION_KEYS,
  operationChoices,
  planOperations,
  useBecauseText,
  useOperationName,
} from '../interventions/operations';
import { type Intervention, useIntervention } from '../interventions/use-intervention';
import { secondsAgo } from '../lists/filters';
import { type List, type ListOptions, useList } from '../lists/use-list';
import { trailBack } from '../lists/trail';
import classes from './event-list.module.css';
import selection from './selection-bar.module.css';
import { type Ticks, useTicks } from './ticks';

/** What a screen with a list of events begins with. */
export interface EventListProps<S extends Snapshot> extends Pick<ListOptions<EventFilter, S>, 'filter' | 'cursor' | 'initial'> {
  errors: FilterErrors;
  hiddenFilters: readonly FilterField[];
}

type EventList<S extends Snapshot> = ReturnType<typeof useEventList<S>>;

/** A list of events: its page by URL, its ticks, and the dialog for operations; `EventListScreen` shows it. */
export function useEventList<S extends Snapshot>(options: Omit<ListOptions<EventFilter, S>, 'serialise' | 'paused'>) {
  const ticks = useTicks();
  // Rises with every intervention from this list.
  const [round, nextRound] = useReducer((before: number) => before + 1, 0);
  const intervention = useIntervention();
  const ticking = ticks.events.length > 0;
  const { prepare } = intervention;
  useEffect(() => {
    if (ticking) prepare();
  }, [ticking, prepare]);
  // Ticked rows and those in the dialog must not move, so polling pauses.
  const list = useList<EventFilter, S>({ ...options, serialise: serialiseEventFilter, paused: ticking || intervention.opening !== null });
  const onSettled = ({ changed }: InterventionResult): void => {
    if (changed.length > 0) ticks.clear();
    nextRound();
    void list.refresh();
  };
  return { ...list, ticks, intervention, round, onSettled };
}

interface EventListScreenProps extends Record<'title' | 'tools' | 'children', ReactNode> {
  list: EventList<Snapshot>;
  root: RefObject<HTMLDivElement | null>;
  /** The page of the rows shown; null if there are no pages to turn. */
  page: EventPage | null;
  /** The outbox of the ticked rows; undefined if there are none. */
  ticked: OutboxInfo | undefined;
  /** The filter of the whole list, as in its URL, for a plan of it. */
  whole: string;
  sections?: boolean;
}

/** The layout of all lists of events: title and tools, rows, paging, and the bar for ticked rows. */
export function EventListScreen({ list, root, title, tools, page, ticked, whole, sections, children }: EventListScreenProps) {
  const { ticks, intervention } = list;
  return (
    <div className={classes.screen} data-sections={sections} ref={root}>
      <header className={classes.header}>
        <Title order={1}>{title}</Title>
        {tools}
      </header>
      {children}
      {page !== null && <ListFooter page={page} list={list} />}
      {ticks.events.length > 0 && ticked !== undefined && <SelectionBar outbox={ticked} list={list} whole={whole} />}
      {intervention.dialog(list.onSettled)}
    </div>
  );
}

interface ListKeys {
  intervention: Intervention;
  events: EventPage['events'];
  ticks: Ticks;
  /** null if the rows are of several outboxes: then the keys do nothing. */
  outbox: OutboxInfo | null;
}

function focusRow(root: HTMLElement | null, id: string): HTMLElement | null {
  const link = root?.querySelector<HTMLElement>(`[data-event="${CSS.escape(id)}"]`) ?? null;
  link?.focus({ preventScroll: true });
  return link;
}

/** `root` contains the rows, each with a link marked `data-event`; `current` is the index of the row that has the focus, -1 for none. */
export function useListKeys({ intervention, events, ticks, outbox }: ListKeys) {
  const root = useRef<HTMLDivElement>(null);
  const mayOperate = useMay('event:operate');
  const t = useTranslations('events.keys');
  const name = useOperationName();
  const [back] = useState(trailBack);
  const [currentId, setCurrentId] = useState(back?.id ?? null);
  const current = events.findIndex(({ id }) => id === currentId);

  const move = (step: number) => {
    const index = current === -1 ? (step > 0 ? 0 : events.length - 1) : Math.min(Math.max(current + step, 0), events.length - 1);
    const event = events[index];
    if (event === undefined) return;
    setCurrentId(event.id);
    focusRow(root.current, event.id)?.closest('tr')?.scrollIntoView({ block: 'nearest' });
  };
  // The row that was looked at last has the focus, where the opened one was.
  useEffect(() => {
    const link = back && focusRow(root.current, back.id);
    if (link) window.scrollBy({ top: link.getBoundingClientRect().top - back.top, behavior: 'instant' });
  }, [back]);
  const tick = (range: boolean) => {
    const event = events[current];
    if (event !== undefined && mayOperate && outbox?.writable === true) ticks.toggle(event, range, events);
  };
  const operate = (operation: string) => {
    if (outbox === null) return;
    const row = events[current];
    const chosen = ticks.events.length > 0 ? ticks.events : row === undefined ? [] : [row];
    const choice = operationChoices(outbox, chosen, mayOperate).find((each) => each.operation === operation);
    const seen = chosen.flatMap(({ id, version }) => (version === null ? [] : [{ id, version }]));
    if (choice?.obstacle === null) intervention.open(outbox, operation, seen);
  };

  useShortcuts([
    { keys: 'j', label: t('down'), run: () => move(1) },
    { keys: 'k', label: t('up'), run: () => move(-1) },
    { keys: 'x', label: t('tick'), run: () => tick(false) },
    { keys: 'shift+x', label: t('tickRange'), run: () => tick(true) },
    { keys: 'Enter', label: t('open') },
    ...OPERATION_KEYS.map(([keys, operation]) => ({ keys, label: name(operation), run: () => operate(operation) })),
    { keys: 'Escape', label: t('clear'), run: () => ticks.clear() },
  ]);
  return { root, current };
}

function SelectionBar({ outbox, list, whole }: Pick<EventListScreenProps, 'list' | 'whole'> & { outbox: OutboxInfo }) {
  const { ticks, intervention } = list;
  const { events, full, clear } = ticks;
  const mayOperate = useMay('event:operate');
  const t = useTranslations('events.selection');
  const name = useOperationName();
  const because = useBecauseText();
  const format = useFormat();
  const choices = operationChoices(outbox, events, mayOperate);
  const possible = choices.filter(({ obstacle }) => obstacle === null);
  const impossible = choices.flatMap(({ operation, obstacle }) => (obstacle === null ? [] : [{ operation, text: because(obstacle) }]));
  // A reason that all share, such as a role or a read-only outbox, is shown once.
  const shared = possible.length === 0 && new Set(impossible.map(({ text }) => text)).size === 1 ? impossible[0]?.text : undefined;
  const seen = events.map(({ id, version }) => ({ id, version }));
  const max = attemptsOf(events);
  const sum = sumText(events, format.locale);
  const [first, ...others] = mayOperate ? planOperations(outbox, new URLSearchParams(whole).getAll('state')) : [];
  return (
    <section className={selection.bar} aria-label={t('label')}>
      <div className={selection.count}>
        <strong role="status">{t('count', { count: events.length })}</strong>
        {sum.sums !== '' && <span className={selection.sum}>{t('sum', sum)}</span>}
        {full && <span className={selection.full}>{t('full', { max: INTERVENTION_EVENTS_MAX })}</span>}
        {first !== undefined && (
          <PlanButton
            label={t('whole')}
            variant="subtle"
            outbox={outbox.id}
            operations={[first, ...others]}
            source={{ filter: whole }}
            about={t('wholeAbout')}
          />
        )}
      </div>
      <div className={selection.operations}>
        {possible.map(({ operation, allowed }, index) => (
          <TextButton
            key={operation}
            size="compact-md"
            variant={index > 0 || operation === 'archive' ? 'default' : 'filled'}
            onClick={() => intervention.open(outbox, operation, seen)}
            label={
              allowed === events.length
                ? name(operation, max)
                : t('some', { operation: name(operation, max), allowed, count: events.length })
            }
          />
        ))}
      </div>
      {shared !== undefined ? (
        <p className={selection.why}>{shared}</p>
      ) : (
        impossible.length > 0 && (
          <ul className={selection.why}>
            {impossible.map(({ operation, text }) => (
              <li key={operation}>{t('not', { operation: name(operation), why: text })}</li>
            ))}
          </ul>
        )
      )}
      <CloseButton className={selection.clear} onClick={clear} aria-label={t('clear')} />
    </section>
  );
}

interface ShownPage {
  page: EventPage;
  list: List<EventFilter, Snapshot>;
}

/** What was searched, and paging: "nothing found" must not be read as "does not exist". */
function ListFooter({ page, list }: ShownPage) {
  const t = useTranslations('events.pages');
  const { turned, pending, turnTo } = list;
  const { nextCursor, previousCursor } = page;
  const turn = (way: 'previous' | 'next', cursor: string | null, sign: Pick<ButtonProps, 'leftSection' | 'rightSection'>) => (
    <TextButton variant="default" size="xs" {...sign} disabled={cursor === null || pending} onClick={() => turnTo(cursor)} label={t(way)} />
  );
  return (
    <div className={classes.footer}>
      <div>
        <Searched page={page} list={list} />
      </div>
      <div className={classes.turn}>
        {turned && previousCursor !== null && (
          <TextButton variant="subtle" size="xs" onClick={() => turnTo(null)} disabled={pending} label={t('first')} />
        )}
        {turn('previous', previousCursor, { leftSection: <IconChevronLeft size={14} aria-hidden /> })}
        {turn('next', nextCursor, { rightSection: <IconChevronRight size={14} aria-hidden /> })}
      </div>
    </div>
  );
}

/** How far was searched, what an order other than creation means, and what an index would change, so that no event is missed unnoticed. */
function Searched({ page, list: { filter, turnTo } }: ShownPage) {
  const t = useTranslations('events');
  const states = useTranslations('states');
  const format = useFormat();
  const { orderedBy, leftOut, missingIndex, nextCursor } = page;
  const { rows, complete, backTo } = page.searched;
  const at = backTo === null ? null : format.absolute(backTo);
  const count = page.events.length;
  const order = filter.order ?? 'newest';
  const text = (): string => {
    if (complete) return t('pages.allSearched');
    // A full page stops at its last row.
    if (rows <= count) return at === null ? t('pages.shown', { count }) : t('pages.shownBackTo', { order, count, at });
    return at === null ? t('pages.searched', { order, rows }) : t('pages.searchedBackTo', { order, rows, at });
  };
  // Rows in an unmapped state are rare: they are mentioned only where the list seems to end.
  const told = nextCursor === null || leftOut.some((state) => state !== 'unmapped') ? leftOut : [];
  return (
    <>
      <p className={classes.searched}>
        {text()}
        {!complete && rows > count && nextCursor !== null && (
          <>
            {' · '}
            <Anchor component="button" type="button" size="sm" onClick={() => turnTo(nextCursor)}>
              {t('pages.further')}
            </Anchor>
          </>
        )}
      </p>
      {orderedBy !== 'created' && <p className={classes.searched}>{t(`pages.orderedBy.${orderedBy}`)}</p>}
      {told.length > 0 && (
        <p className={classes.searched}>{t('pages.leftOut', { states: told.map((state) => states(state)).join(', ') })}</p>
      )}
      {missingIndex !== null && (
        <p className={classes.searched}>
          {t(`missingIndex.${missingIndex.code}`)} <code className={classes.mono}>{missingIndex.sql}</code>
        </p>
      )}
    </>
  );
}

/** Why there is no row: none exist, none match, or they are not readable; and what to do about it. */
export function ListNotice({ outbox, list }: { outbox: OutboxInfo; list: List<EventFilter, EventsSnapshot> }) {
  const t = useTranslations();
  const { filter, turned, setFilter, turnTo } = list;
  const { page, problem } = list.snapshot;
  const retry = <TextButton variant="default" size="xs" onClick={() => void list.refresh()} label={t('events.retry')} />;
  const lastHour = () => setFilter({ ...filter, from: secondsAgo(3_600), to: undefined });
  if (page === null && problem?.code === 'timeout')
    return (
      <Notice title={t('events.timeout.title')} text={t('events.timeout.text')}>
        {outbox.capabilities.fields.createdAt && (
          <TextButton variant="default" size="xs" onClick={lastHour} label={t('events.timeout.lastHour')} />
        )}
        {retry}
      </Notice>
    );
  if (page === null)
    return (
      <Notice
        title={t('events.failed')}
        text={
          <>
            <p>{t(`problems.${problem?.code ?? 'unavailable'}`)}</p>
            {problem?.reference !== undefined && (
              <p className={classes.mono}>{t('interventions.reference', { reference: problem.reference })}</p>
            )}
          </>
        }
      >
        {/* The cursor itself may be the cause. */}
        {turned && <TextButton size="xs" onClick={() => turnTo(null)} label={t('events.pages.first')} />}
        {retry}
      </Notice>
    );
  if (countFilters(filter) === 0) {
    return <Notice title={t('events.empty.title')} text={t('events.empty.text', { table: outbox.table })} />;
  }
  const { nextCursor } = page;
  return (
    <Notice title={t('events.noMatch.title')} text={<Searched page={page} list={list} />}>
      {nextCursor !== null && <TextButton size="xs" onClick={() => turnTo(nextCursor)} label={t('events.noMatch.further')} />}
      <TextButton variant="default" size="xs" onClick={() => setFilter({ order: filter.order })} label={t('events.filter.clearAll')} />
    </Notice>
  );
}
