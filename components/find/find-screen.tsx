'use client';

import { TextInput, Title } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useId, useState } from 'react';
import { type Found, type FoundEvent, type FoundIn, keyProblem, leftOpen } from '@/lib/shared/lists/found';
import type { Action } from '@/lib/shared/problems';
import { FateMark } from '../figures/mark';
import { AbsoluteTime } from '../figures/format';
import { useOutboxName } from '../frame/console';
import { useGo } from '../frame/go';
import { usePolledSnapshot } from '../frame/live';
import { Notice } from '../frame/note';
import { Form, TextButton, TextLink } from '../frame/controls';
import { LatestButton, useSteadyRows } from '../lists/steady-rows';
import { eventHref, findHref, outboxHref } from '../hrefs';
import { useWhyOpen } from './use-why-open';
import classes from './find.module.css';

interface FindScreenProps {
  /** As the address has it; null where it has none. */
  asked: string | null;
  /** null where the key cannot be looked for. */
  initial: Found | null;
  load: Action<{ key: string }, Found>;
}

/** What became of a business key in all outboxes. The key is in the address. */
export function FindScreen({ asked, initial, load }: FindScreenProps) {
  const t = useTranslations('find');
  return (
    <div className={classes.screen}>
      <Title order={1}>{t('title')}</Title>
      <KeyForm key={asked} asked={asked} />
      {initial === null ? (
        <div className={classes.frame}>
          <Notice title={t('empty')} text={t('emptyText')} />
        </div>
      ) : (
        <FoundKey initial={initial} load={load} />
      )}
    </div>
  );
}

function KeyForm({ asked }: { asked: string | null }) {
  const t = useTranslations('find');
  const { go } = useGo();
  const [text, setText] = useState(asked ?? '');
  const [wrong, setWrong] = useState(asked === null ? null : keyProblem(asked));
  const submit = () => {
    const problem = keyProblem(text);
    setWrong(problem);
    if (problem === null) go((router) => router.push(findHref(text)));
  };
  return (
    <Form className={classes.form} role="search" onSubmit={submit}>
      <TextInput
        id={useId()}
        className={classes.key}
        label={t('key')}
        description={t('keyHint')}
        value={text}
        inputWrapperOrder={['label', 'description', 'error', 'input']}
        error={wrong === null ? undefined : t(`wrong.${wrong}`, { characters: [...text].length })}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <TextButton type="submit" icon={IconSearch} label={t('find')} />
    </Form>
  );
}

export function FoundKey({ initial, load }: { initial: Found; load: FindScreenProps['load'] }) {
  const t = useTranslations('find');
  const { key } = initial;
  const { snapshot } = usePolledSnapshot<Found>({ key: ['find', key], action: () => load({ key }), initial });
  const { fate, outboxes } = snapshot;
  // An outbox that answers late has lines between those that are read.
  const { rows, gone, newer, showLatest } = useSteadyRows(key, linesOf(outboxes), 0);
  const fates = outboxes.flatMap(({ events }) => events.map((event) => event.fate));
  const having = outboxes.filter(({ events }) => events.length > 0).length;
  return (
    <>
      <section className={classes.fate} data-fate={fate} role="status" aria-label={t('title')}>
        <FateMark fate={fate} />
        <p className={classes.says}>{t(`says.${fate}`, { count: fates.filter((one) => one === fate).length, total: fates.length })}</p>
        <p className={classes.dimmed}>
          <bdi className={classes.mono}>{key}</bdi> {t('count', { events: fates.length, outboxes: having, all: outboxes.length })}
        </p>
      </section>
      {rows.length > 0 && (
        <section className={classes.frame} aria-labelledby="find-timeline">
          <div className={classes.head}>
            <h2 id="find-timeline">{t('timeline')}</h2>
            <LatestButton label={newer + gone.size > 0 && t('newer', { count: Math.max(newer, gone.size) })} onShow={showLatest} />
          </div>
          <ol className={classes.lines}>
            {rows.map((line, index) => (
              <Line key={line.id} line={line} gone={gone.has(line.id)} isLast={rows.findIndex((one) => isSameEvent(one, line)) === index} />
            ))}
          </ol>
        </section>
      )}
      <Outboxes outboxes={outboxes} search={key} />
    </>
  );
}

interface LineProps {
  line: FoundLine;
  gone: boolean;
  /** The newest of its event, which says what became of it. */
  isLast: boolean;
}

function Line({ line: { outbox, event, kind, at }, gone, isLast }: LineProps) {
  const t = useTranslations('find');
  const outboxName = useOutboxName();
  return (
    <li data-kind={kind} data-gone={gone || undefined}>
      <span className={classes.when}>{at === null ? t('noTime') : <AbsoluteTime at={at} />}</span>
      <span className={classes.what}>
        <TextLink href={eventHref(outbox, event.id)} prefetch={false} size="sm" label={<bdi>{event.type ?? event.id}</bdi>} />{' '}
        {t(`line.${kind}`, { attempts: event.attempts ?? 0 })}
        <span className={classes.dimmed}> · {outboxName(outbox)}</span>
      </span>
      {isLast && <FateMark fate={event.fate} />}
    </li>
  );
}

/** Each outbox with something to say; the others, which were searched and have no such event, in one line. */
function Outboxes({ outboxes, search }: { outboxes: FoundIn[]; search: string }) {
  const t = useTranslations('find');
  const outboxName = useOutboxName();
  const told = outboxes.filter((part) => part.events.length > 0 || part.why !== null || leftOpen(part) !== null);
  const others = outboxes.filter((part) => !told.includes(part));
  return (
    <section className={classes.frame} aria-labelledby="find-outboxes">
      <h2 id="find-outboxes" className={classes.heading}>
        {t('outboxes')}
      </h2>
      <ul className={classes.parts}>
        {told.map((part) => (
          <li key={part.outbox} data-open={leftOpen(part) ?? undefined}>
            <TextLink href={outboxHref(part.outbox)} prefetch={false} size="sm" fw={600} label={outboxName(part.outbox)} />
            <span>
              <Told part={part} search={search} />
            </span>
          </li>
        ))}
        {others.length > 0 && (
          <li>
            <span className={classes.dimmed}>{t('others', { count: others.length, all: told.length === 0 ? 'yes' : 'no' })}</span>
            <span className={classes.dimmed}>{others.map(({ outbox }) => outboxName(outbox)).join(', ')}</span>
          </li>
        )}
      </ul>
    </section>
  );
}

function Told({ part, search }: { part: FoundIn; search: string }) {
  const t = useTranslations('find');
  const whyOpen = useWhyOpen();
  const { outbox, events, more } = part;
  const sentences = [...(events.length > 0 ? [t('events', { count: events.length, more: more ? 'yes' : 'no' })] : []), ...whyOpen(part)];
  return (
    <>
      {sentences.map((sentence) => `${sentence}.`).join(' ')}
      {more && (
        <>
          {' '}
          <TextLink
            href={outboxHref(outbox, `/events?${new URLSearchParams({ q: search }).toString()}`)}
            prefetch={false}
            size="sm"
            label={t('list')}
          />
        </>
      )}
    </>
  );
}

interface FoundLine {
  /** The same in every reading until it happens anew. */
  id: string;
  outbox: string;
  event: FoundEvent;
  kind: 'created' | 'attempted' | 'died' | 'published';
  /** null where the table has no time of the event at all. */
  at: string | null;
}

const isSameEvent = (a: FoundLine, b: FoundLine): boolean => a.outbox === b.outbox && a.event.id === b.event.id;

const RANK = ['created', 'attempted', 'died', 'published'] as const;

/** What happened to all events, newest first; events without times come last. */
function linesOf(outboxes: readonly FoundIn[]): FoundLine[] {
  const lines = outboxes.flatMap(({ outbox, events }) => events.flatMap((event) => linesOfEvent(outbox, event)));
  const time = ({ at }: FoundLine): number => (at === null ? -Infinity : Date.parse(at));
  return lines.toSorted((a, b) => Math.sign(time(b) - time(a)) || RANK.indexOf(b.kind) - RANK.indexOf(a.kind));
}

function linesOfEvent(outbox: string, event: FoundEvent): FoundLine[] {
  const { createdAt, lastAttemptAt, diedAt, publishedAt } = event;
  // A relay that writes one time for both a try and its end gives one line.
  const attemptedAt = lastAttemptAt === publishedAt || lastAttemptAt === diedAt ? null : lastAttemptAt;
  const times = { created: createdAt, attempted: attemptedAt, died: diedAt, published: publishedAt };
  const kinds = RANK.filter((kind) => times[kind] !== null);
  return (kinds.length === 0 ? (['created'] as const) : kinds).map((kind) => {
    const at = times[kind];
    return { id: JSON.stringify([outbox, event.id, kind, at]), outbox, event, kind, at };
  });
}
