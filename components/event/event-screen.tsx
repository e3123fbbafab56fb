'use client';

import { IconArchive } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useRef } from 'react';
import { Title } from '@mantine/core';
import type { EventDetail, EventUpdate, OutboxInfo } from '@/lib/shared/model';
import type { Action, ActionResult } from '@/lib/shared/problems';
import { visibleText } from '@/lib/shared/text/visible-text';
import { StateMark } from '../figures/mark';
import { AbsoluteTime } from '../figures/format';
import { useGo } from '../frame/go';
import { usePolledSnapshot } from '../frame/live';
import { useShortcuts } from '../frame/shortcuts';
import { useMay } from '../frame/console';
import { TextButton } from '../frame/controls';
import { useIntervention } from '../interventions/use-intervention';
import { inOrder, OPERATION_KEYS, useBecauseText, useOperationName } from '../interventions/operations';
import { ReadOnlyNote, SignedText } from '../frame/note';
import { eventHref } from '../hrefs';
import { useTrail } from '../lists/trail';
import { ContentView } from './content-view';
import { Block, CopyAction, Facts } from './facts';
import { Neighbours, Timeline } from './story';
import classes from './event-screen.module.css';

type LoadEvent = Action<{ outbox: string; event: string; full?: boolean; since?: string; contentKey?: string }, EventUpdate>;

/** `contentKey` identifies the content that the screen has, so that it is sent once. */
type Held = EventDetail & { contentKey?: string };

/** Polls one event: each request says what the screen has, so that viewers share readings and content is sent once. */
function useEvent(load: LoadEvent, outbox: string, initial: EventDetail, paused: boolean) {
  const queries = useQueryClient();
  const key = ['event', outbox, initial.event.id];
  const wanted = useRef({ full: false, anew: false });
  const action = async (): Promise<ActionResult<Held>> => {
    const held: Held = queries.getQueryData<Held>(key) ?? initial;
    const { payload, headers, asOf, contentKey } = held;
    const { full, anew } = wanted.current;
    const result = await load({ outbox, event: initial.event.id, full, since: anew ? undefined : asOf, contentKey });
    if (!result.ok) return result;
    wanted.current.anew = false;
    const kept = contentKey === result.value.contentKey ? { payload, headers } : {};
    return { ok: true, value: { payload, headers, ...result.value, ...kept } };
  };
  const polled = usePolledSnapshot<Held>({ key, action, initial, paused });
  return {
    ...polled,
    /** Reads again: with all content from now on (`full`), or newer than this moment (`anew`). */
    ask: ({ full, anew }: { full?: true; anew?: true }) => {
      Object.assign(wanted.current, { ...(full && { full }), ...(anew && { anew }) });
      void polled.refresh();
    },
  };
}

const RECORD_CARRIED_MS = 1_500;

export function EventScreen({ outbox, initial, load }: { outbox: OutboxInfo; initial: EventDetail; load: LoadEvent }) {
  const t = useTranslations();
  const mayOperate = useMay('event:operate');
  const operationName = useOperationName();
  const intervention = useIntervention();
  const { snapshot, failing, reading, ask } = useEvent(load, outbox.id, initial, intervention.opening !== null);
  const showAll = { reading, ask: () => ask({ full: true }) };
  const { event, archived, blocks } = snapshot;
  const cautions = [
    ...(blocks === null ? [] : [t('event.blocks', { count: blocks.count ?? 0, more: blocks.known })]),
    ...snapshot.warnings.map((code) => (t.has(`warnings.${code}`) ? t(`warnings.${code}`) : code)),
  ];
  const operate = (operation: string) => {
    const { id, version } = event;
    if (version !== null) intervention.open(outbox, operation, [{ id, version }]);
  };
  const mayNow = (operation: string): boolean => mayOperate && outbox.writable && snapshot.operations[operation]?.allowed === true;
  const bound = OPERATION_KEYS.filter(([, operation]) => mayNow(operation));
  useShortcuts(bound.map(([keys, operation]) => ({ keys, label: operationName(operation), run: () => operate(operation) })));

  return (
    <div className={classes.screen} data-stale={failing !== null || undefined}>
      <header className={classes.header}>
        <StateMark state={event.state} label={event.stateLabel} />
        <Title order={1}>
          <bdi>{event.type ?? t('events.noType')}</bdi>
          {event.aggregateId !== null && <bdi className={classes.aggregate}>{event.aggregateId}</bdi>}
        </Title>
        <EventTrail outbox={outbox.id} id={event.id} />
        <span className={classes.eventId}>
          <bdi className={classes.mono}>{event.id}</bdi>
          <CopyAction value={event.id} label={t('event.facts.id')} />
        </span>
      </header>
      <ReadOnlyNote outbox={outbox} />
      <EventOperations detail={snapshot} outbox={outbox} onOperate={operate} />
      {cautions.map((text) => (
        <SignedText key={text} text={text} />
      ))}
      {archived !== null && (
        <SignedText
          icon={IconArchive}
          hue="grey"
          text={t.rich('event.archived', {
            ...{ by: archived.by, state: t(`states.${archived.fromState}`), reason: archived.reason },
            at: () => <AbsoluteTime at={archived.at} />,
          })}
        />
      )}
      <div className={classes.columns}>
        <div className={classes.story}>
          <EventTimeline outbox={outbox} detail={snapshot} />
        </div>
        <div className={classes.side}>
          <Facts detail={snapshot} outbox={outbox} />
          <ContentView title={t('event.payload')} content={snapshot.payload} showAll={showAll} />
          {snapshot.headers !== null && <ContentView title={t('event.headers')} content={snapshot.headers} showAll={showAll} />}
        </div>
      </div>
      {intervention.dialog(() => {
        ask({ anew: true });
        // The record reaches the audit, and so the timeline, a second later.
        setTimeout(() => ask({ anew: true }), RECORD_CARRIED_MS);
      })}
    </div>
  );
}

interface EventPartProps {
  detail: EventDetail;
  outbox: OutboxInfo;
}

/** The way through the list that the event was opened from. */
function EventTrail({ outbox, id }: { outbox: string; id: string }) {
  const t = useTranslations('event.trail');
  const { go } = useGo();
  const { ids, index } = useTrail(outbox, id);
  const open = (to = id) => go((router) => router.replace(eventHref(outbox, to)));
  const ways = [
    { keys: 'k', sign: '‹', label: t('previous'), to: ids[index - 1] },
    { keys: 'j', sign: '›', label: t('next'), to: ids[index + 1] },
  ];
  useShortcuts(index === -1 ? [] : ways.map(({ to, ...way }) => ({ ...way, run: () => open(to) })));
  if (index === -1) return null;
  return (
    <nav className={classes.trail} aria-label={t('label')}>
      <span>{t('position', { position: index + 1, count: ids.length })}</span>
      {ways.map(({ sign, label, to }) => (
        <TextButton
          key={label}
          variant="default"
          size="compact-sm"
          aria-label={label}
          title={label}
          disabled={to === undefined}
          onClick={() => open(to)}
          label={sign}
        />
      ))}
    </nav>
  );
}

/** What happened to it. The last error of an event that is out is no alarm, and comes below. */
export function EventTimeline({ outbox, detail }: EventPartProps) {
  const { event, archived } = detail;
  const out = event.state === 'published' || archived?.fromState === 'published';
  const title = useTranslations('event')(out ? 'errorBefore' : 'error');
  const copy = (value: string) => (
    <span className={classes.blockTools}>
      <CopyAction value={value} label={title} />
    </span>
  );
  const error = event.error !== null && (
    <Block title={title} tools={copy(event.error)}>
      <pre className={classes.error} data-out={out || undefined} tabIndex={0} aria-label={title}>
        <bdi>{visibleText(event.error)}</bdi>
      </pre>
    </Block>
  );
  return (
    <>
      {!out && error}
      <Timeline detail={detail} outboxName={outbox.name} />
      {out && error}
      <Neighbours outbox={outbox} detail={detail} />
    </>
  );
}

/** What can be done to this event now, and why not the rest. On a phone it stays at the lower edge. */
export function EventOperations({ detail, outbox, onOperate }: EventPartProps & { onOperate: (key: string) => void }) {
  const t = useTranslations('event.operations');
  const mayOperate = useMay('event:operate');
  const name = useOperationName();
  const because = useBecauseText();
  const why = (operation: string): string => {
    const code = detail.operations[operation]?.because ?? 'not_supported';
    const capability = outbox.capabilities.operations[operation];
    return because(code === 'wrong_state' && capability?.offered === true ? capability.from : code);
  };
  const archived = detail.event.state === 'archived';
  // What nothing gets past lets the others go when it is out of the table.
  const first = detail.blocks === null ? undefined : 'archive';
  const keys = inOrder(Object.keys(detail.operations), first).filter((key) => (key === 'restore') === archived);
  const possible = mayOperate ? keys.filter((key) => detail.operations[key]?.allowed === true) : [];
  // The reason is shown above.
  if (!outbox.writable) return null;
  return (
    <section className={classes.operations} aria-label={t('title')} data-empty={possible.length === 0 || undefined}>
      {possible.length > 0 && (
        <div className={classes.operationButtons}>
          {possible.map((operation, index) => (
            <TextButton
              key={operation}
              size="sm"
              variant={index > 0 || (operation === 'archive' && first !== operation) ? 'default' : 'filled'}
              onClick={() => onOperate(operation)}
              label={name(operation, detail.event.maxAttempts)}
            />
          ))}
        </div>
      )}
      {!mayOperate || detail.event.state === 'published' ? (
        <p className={classes.whyNot}>{mayOperate ? t('published') : because('forbidden')}</p>
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
