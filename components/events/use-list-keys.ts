import { useTranslations } from 'next-intl';
import { useRef, useState } from 'react';
import type { OutboxEvent, OutboxInfo } from '@/lib/shared/model';
import { useShortcuts } from '../frame/shortcuts';
import { useMay } from '../frame/console';
import { operationChoices, useOperationName } from '../interventions/operations';
import type { Intervention } from '../interventions/use-intervention';
import type { Ticks } from './use-ticks';

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
