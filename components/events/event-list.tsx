import { useEffect, useReducer, type ReactNode, type RefObject } from 'react';
import { serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import type { EventFilter, EventPage, InterventionResult, OutboxInfo } from '@/lib/shared/model';
import { useIntervention, type Intervention } from '../interventions/use-intervention';
import { useList, type List, type ListOptions } from '../lists/use-list';
import { ListFooter } from './list-footer';
import { SelectionBar, TakingBar } from './selection-bar';
import { useTicks, type Ticks } from './use-ticks';
import type { WholeListState } from './use-whole-list';
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
