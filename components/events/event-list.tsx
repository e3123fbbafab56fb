import { useEffect, useReducer, type ReactNode, type RefObject, useRef, useState } from 'react';
import { useTranslations } from 'next-intl';
import { serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import type { EventFilter, EventPage, InterventionResult, OutboxInfo, OutboxEvent } from '@/lib/shared/model';
import { useIntervention, type Intervention } from '../interventions/use-intervention';
import { useList, type List, type ListOptions } from '../lists/use-list';
import { useShortcuts } from '../frame/shortcuts';
import { useMay } from '../frame/console';
import { operationChoices, useOperationName } from '../interventions/operations';
import { ListFooter } from './list-footer';
import { SelectionBar, TakingBar } from './selection-bar';
import { useTicks, type Ticks } from './use-ticks';
import type { WholeListState } from './take-list';
import classes from './event-list.module.css';

export interface EventList<S extends object> extends List<EventFilter, S> {
  ticks: Ticks;
  intervention: Intervention;
  /** Rises with every intervention of this list's own. */
  round: number;
  onSettled: (result: InterventionResult) => void;
}

/** A list of events: its page by URL, the ticks on its rows and the dialog that acts on them; `EventListScreen` shows it. */
export function useEventList<S extends object>(options: Omit<ListOptions<EventFilter, S>, 'serialise' | 'paused'>): EventList<S> {
  const ticks = useTicks();
  const [round, nextRound] = useReducer((before: number) => before + 1, 0);
  const intervention = useIntervention();
  const ticking = ticks.events.length > 0;
  const { prepare } = intervention;
  useEffect(() => {
    if (ticking) prepare();
  }, [ticking, prepare]);
  // What somebody is about to act on must not move under their hand.
  const list = useList<EventFilter, S>({ ...options, serialise: serialiseEventFilter, paused: ticking || intervention.opening !== null });
  const onSettled = ({ changed }: InterventionResult): void => {
    if (changed.length > 0) ticks.clear();
    nextRound();
    void list.refresh();
  };
  return { ...list, ticks, intervention, round, onSettled };
}

interface EventListScreenProps {
  list: EventList<object>;
  /** Holds the rows. */
  root: RefObject<HTMLDivElement | null>;
  title: ReactNode;
  tools: ReactNode;
  /** What the rows in view were made from; null where there are none to turn. */
  page: EventPage | null;
  /** The outbox the ticked rows are of; undefined while none are. */
  ticked: OutboxInfo | undefined;
  /** Ticking the list as a whole, where it can be. */
  whole?: WholeListState & { begin: () => void };
  /** Its rows stand in several sections. */
  sections?: boolean;
  /** Filter and rows. */
  children: ReactNode;
}

/** What all lists of events look like: name and tools, the rows, the way on, and the bar that rises with the ticks. */
export function EventListScreen({ list, root, title, tools, page, ticked, whole, sections, children }: EventListScreenProps) {
  const { ticks, intervention } = list;
  const taking = whole?.taking ?? null;
  return (
    <div className={classes.screen} data-sections={sections} ref={root}>
      <header className={classes.header}>
        <h1 className={classes.title}>{title}</h1>
        {tools}
      </header>
      {children}
      {page !== null && <ListFooter page={page} list={list} />}
      {taking !== null && whole !== undefined && <TakingBar taking={taking} onCancel={whole.cancel} />}
      {taking === null && ticks.events.length > 0 && ticked !== undefined && (
        <SelectionBar outbox={ticked} ticks={ticks} intervention={intervention} onWhole={whole?.begin ?? null} />
      )}
      {intervention.dialog(list.onSettled)}
    </div>
  );
}

interface ListKeys {
  intervention: Intervention;
  events: readonly OutboxEvent[];
  ticks: Ticks;
  /** null while the rows are of several outboxes: then the keys do nothing. */
  outbox: OutboxInfo | null;
}

/**
 * The keys of the list: `root` holds the rows, each of which links to its event with `data-event`; `current` is the index of
 * the row they are on, -1 for none. That row's link has the focus, so that Enter opens it by itself.
 */
export function useListKeys({ intervention, events, ticks, outbox }: ListKeys) {
  const root = useRef<HTMLDivElement>(null);
  const mayOperate = useMay('event:operate');
  const t = useTranslations('events.keys');
  const name = useOperationName();
  const [currentId, setCurrentId] = useState<string | null>(null);
  const current = events.findIndex(({ id }) => id === currentId);

  const move = (step: number) => {
    const index = current === -1 ? (step > 0 ? 0 : events.length - 1) : Math.min(Math.max(current + step, 0), events.length - 1);
    const event = events[index];
    if (event === undefined) return;
    setCurrentId(event.id);
    const link = root.current?.querySelector<HTMLElement>(`[data-event="${CSS.escape(event.id)}"]`);
    link?.focus({ preventScroll: true });
    link?.closest('tr')?.scrollIntoView({ block: 'nearest' });
  };
  const tick = (range: boolean) => {
    const event = events[current];
    if (event !== undefined && mayOperate && outbox?.writable === true) ticks.toggle(event, range, events);
  };
  const operate = (operation: string) => {
    if (outbox === null) return;
    const row = events[current];
    const chosen = ticks.events.length > 0 ? ticks.events : row === undefined ? [] : [row];
    const choice = operationChoices(outbox, chosen, mayOperate).find((each) => each.operation === operation);
    if (choice !== undefined && choice.obstacle === null) {
      intervention.open(
        outbox,
        operation,
        chosen.flatMap(({ id, version }) => (version === null ? [] : [{ id, version }])),
      );
    }
  };

  useShortcuts([
    { keys: 'j', label: t('down'), run: () => move(1) },
    { keys: 'k', label: t('up'), run: () => move(-1) },
    { keys: 'x', label: t('tick'), run: () => tick(false) },
    { keys: 'shift+x', label: t('tickRange'), run: () => tick(true) },
    { keys: 'Enter', label: t('open') },
    { keys: 'r', label: name('retry'), run: () => operate('retry') },
    { keys: 'q', label: name('requeue'), run: () => operate('requeue') },
    { keys: 'a', label: name('archive'), run: () => operate('archive') },
    { keys: 'Escape', label: t('clear'), run: () => ticks.clear() },
  ]);
  return { root, current };
}
