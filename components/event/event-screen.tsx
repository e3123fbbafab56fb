'use client';

import { IconAlertTriangle, IconArchive } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { Button } from '@mantine/core';
import type { EventDetail, OutboxInfo } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import { StateMark } from '../figures/mark';
import { AbsoluteTime } from '../figures/time';
import { useShortcuts } from '../frame/shortcuts';
import { useMay } from '../frame/console';
import { useIntervention } from '../interventions/use-intervention';
import { useOperationName, inOrder, useBecauseText, useObstacleText } from '../interventions/operations';
import { ReadOnlyNote } from '../proof/read-only-note';
import { ContentView } from './content-view';
import { CopyAction, Facts } from './facts';
import { useEvent, type LoadEvent } from './use-event';
import { Neighbours } from './neighbours';
import { Timeline } from './timeline';
import classes from './event-screen.module.css';

const RECORD_CARRIED_MS = 1_500;

/** One event: what it is, what happened to it, what it says, and what can be done about it. */
export function EventScreen({ outbox, initial, load }: { outbox: OutboxInfo; initial: EventDetail; load: LoadEvent }) {
  const t = useTranslations();
  const mayOperate = useMay('event:operate');
  const intervention = useIntervention();
  const { snapshot, failing, reading, ask } = useEvent(load, outbox.id, initial, intervention.opening !== null);
  const showAll = { reading, ask: () => ask({ full: true }) };
  const { event } = snapshot;
  const operate = (operation: string) => {
    const { id, version } = event;
    if (version !== null) intervention.open(outbox, operation, [{ id, version }]);
  };
  useOperationKeys(snapshot, mayOperate && outbox.writable, operate);

  return (
    <div className={classes.screen} data-stale={failing !== null || undefined}>
      <header className={classes.header}>
        <StateMark state={event.state} label={event.stateLabel} />
        <h1 className={classes.title}>
          <bdi>{event.type ?? t('events.noType')}</bdi>
          {event.aggregateId !== null && <bdi className={classes.aggregate}>{event.aggregateId}</bdi>}
        </h1>
        <span className={classes.eventId}>
          <bdi className={classes.mono}>{event.id}</bdi>
          <CopyAction value={event.id} label={t('event.facts.id')} />
        </span>
      </header>
      <ReadOnlyNote outbox={outbox} />
      <EventOperations detail={snapshot} outbox={outbox} onOperate={operate} />
      {snapshot.warnings.map((code) => (
        <p key={code} className={classes.caution}>
          <IconAlertTriangle size={16} aria-hidden />
          <span>{t.has(`warnings.${code}`) ? t(`warnings.${code}`) : code}</span>
        </p>
      ))}
      {snapshot.archived !== null && <Archived archived={snapshot.archived} />}
      <div className={classes.columns}>
        <div className={classes.story}>
          {event.error !== null && <ErrorBlock error={event.error} />}
          <Timeline detail={snapshot} outboxName={outbox.name} />
          <Neighbours
            outbox={outbox}
            neighbours={snapshot.neighbours}
            complete={snapshot.neighboursComplete}
            aggregateId={event.aggregateId}
          />
        </div>
        <div className={classes.side}>
          <Facts detail={snapshot} outbox={outbox} />
          <ContentView title={t('event.payload')} content={snapshot.payload} showAll={showAll} />
          {snapshot.headers !== null && <ContentView title={t('event.headers')} content={snapshot.headers} showAll={showAll} />}
        </div>
      </div>
      {intervention.dialog(() => {
        ask({ anew: true });
        // The record reaches the audit a second later, and the story with it.
        setTimeout(() => ask({ anew: true }), RECORD_CARRIED_MS);
      })}
    </div>
  );
}

/** r, q and a do what they do in the list; an operation that is not possible now has no key. */
function useOperationKeys(detail: EventDetail, mayChange: boolean, operate: (operation: string) => void) {
  const name = useOperationName();
  const keys = [
    ['r', 'retry'],
    ['q', 'requeue'],
    ['a', 'archive'],
  ] as const;
  useShortcuts(
    keys
      .filter(([, operation]) => mayChange && detail.operations[operation]?.allowed === true)
      .map(([key, operation]) => ({ keys: key, label: name(operation), run: () => operate(operation) })),
  );
}

function Archived({ archived }: { archived: NonNullable<EventDetail['archived']> }) {
  const t = useTranslations();
  return (
    <p className={classes.archived}>
      <IconArchive size={16} aria-hidden />
      <span>
        {t.rich('event.archived', {
          by: archived.by,
          state: t(`states.${archived.fromState}`),
          reason: archived.reason,
          at: () => <AbsoluteTime at={archived.at} />,
        })}
      </span>
    </p>
  );
}

function ErrorBlock({ error }: { error: string }) {
  const t = useTranslations('event');
  return (
    <section className={classes.block} aria-label={t('error')}>
      <header className={classes.blockHeader}>
        <h2>{t('error')}</h2>
        <span className={classes.blockTools}>
          <CopyAction value={error} label={t('error')} />
        </span>
      </header>
      <pre className={classes.error} tabIndex={0} aria-label={t('error')}>
        <bdi>{visibleText(error)}</bdi>
      </pre>
    </section>
  );
}

interface EventOperationsProps {
  detail: EventDetail;
  outbox: OutboxInfo;
  onOperate: (operation: string) => void;
}

/** What can be done to this event now, and for the rest why not. On a phone it keeps to the lower edge. */
function EventOperations({ detail, outbox, onOperate }: EventOperationsProps) {
  const t = useTranslations('event.operations');
  const mayOperate = useMay('event:operate');
  const name = useOperationName();
  const because = useBecauseText();
  const obstacle = useObstacleText();
  const why = (operation: string): string => {
    const code = detail.operations[operation]?.because ?? 'not_supported';
    const capability = outbox.capabilities.operations[operation];
    return code === 'wrong_state' && capability?.offered === true ? obstacle({ kind: 'states', from: capability.from }) : because(code);
  };
  const archived = detail.event.state === 'archived';
  const keys = inOrder(Object.keys(detail.operations).filter((key) => (key === 'restore') === archived));
  const possible = mayOperate ? keys.filter((key) => detail.operations[key]?.allowed === true) : [];
  // Why nobody may change it stands above.
  if (!outbox.writable) return null;
  return (
    <section className={classes.operations} aria-label={t('title')} data-empty={possible.length === 0 || undefined}>
      {possible.length > 0 && (
        <div className={classes.operationButtons}>
          {possible.map((operation) => (
            <Button key={operation} size="sm" variant={operation === 'archive' ? 'default' : 'filled'} onClick={() => onOperate(operation)}>
              {name(operation)}
            </Button>
          ))}
        </div>
      )}
      {!mayOperate ? (
        <p className={classes.whyNot}>{because('forbidden')}</p>
      ) : (
        <ul className={classes.whyNot}>
          {keys
            .filter((key) => !possible.includes(key))
            .map((key) => (
              <li key={key}>{t('not', { operation: name(key), why: why(key) })}</li>
            ))}
        </ul>
      )}
    </section>
  );
}
