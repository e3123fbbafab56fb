import { Anchor, CopyButton, UnstyledButton } from '@mantine/core';
import { IconCheck, IconCopy, IconExternalLink } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { type ReactNode, useState } from 'react';
import type { EventDetail, OutboxInfo } from '@/lib/shared/model';
import { formatMoney } from '@/lib/shared/text/money';
import { Attempts, Figure } from '../figures/figure';
import { AbsoluteTime, RelativeTime, useFormat } from '../figures/format';
import { FactList } from '../frame/note';
import { TextLink } from '../frame/controls';
import { outboxHref } from '../hrefs';
import classes from './event-screen.module.css';

export function Block({ title, tools, children }: { title: string; tools?: ReactNode; children: ReactNode }) {
  return (
    <section className={classes.block} aria-label={title}>
      <header className={classes.blockHeader}>
        <h2>{title}</h2>
        {tools}
      </header>
      {children}
    </section>
  );
}

/** Copies the whole value, even if it is cut on screen. */
export function CopyAction({ value, label }: { value: string; label: string }) {
  const t = useTranslations('event');
  return (
    <CopyButton value={value} timeout={1_500}>
      {({ copied, copy }) => {
        const [words, Icon] = copied ? [t('copied', { label }), IconCheck] : [t('copy', { label }), IconCopy];
        return (
          <UnstyledButton className={classes.copy} data-copied={copied} onClick={copy} aria-label={words} title={words}>
            <Icon size={14} aria-hidden />
          </UnstyledButton>
        );
      }}
    </CopyButton>
  );
}

/** The first `characters` of a text, and a button for more: a megabyte at once would freeze the page. */
export function useBeginning(text: string, characters: number, className: string | undefined): { beginning: string; more: ReactNode } {
  const t = useTranslations('event');
  const [shown, setShown] = useState(characters);
  const more = text.length > shown && (
    <button type="button" className={className} onClick={() => setShown((before) => before * 4)}>
      {t('moreText', { count: text.length - shown })}
    </button>
  );
  return { beginning: text.slice(0, shown), more };
}

/** Every field by its role. Fields that the table cannot have differ from empty ones. */
export function Facts({ detail: { event, claim, links }, outbox }: { detail: EventDetail; outbox: OutboxInfo }) {
  const t = useTranslations('event.facts');
  const format = useFormat();
  const { fields } = outbox.capabilities;
  const copied = (key: 'id' | 'aggregate' | 'dedupKey' | 'traceId' | 'lockedBy', value: string | null): ReactNode =>
    value !== null && (
      <span className={classes.copyValue}>
        <bdi className={classes.mono}>{value}</bdi>
        <CopyAction value={value} label={t(key)} />
      </span>
    );
  const time = (at: string | null): ReactNode =>
    at !== null && (
      <>
        <AbsoluteTime at={at} />{' '}
        <span className={classes.dimmed}>
          (<RelativeTime at={at} />)
        </span>
      </>
    );
  const aggregate = event.aggregateId !== null && (
    <>
      {event.aggregateType !== null && <bdi className={classes.dimmed}>{event.aggregateType} </bdi>}
      {copied('aggregate', event.aggregateId)}
    </>
  );
  const unread = event.tooLarge && <Figure text={null} why="too_large" />;
  const rows: { key: keyof typeof fields | 'id' | 'type'; value: ReactNode; absent?: 'notYet' | 'unclaimed' }[] = [
    { key: 'id', value: copied('id', event.id) },
    { key: 'type', value: event.type !== null && <bdi>{event.type}</bdi> },
    { key: 'topic', value: event.topic !== null && <bdi>{event.topic}</bdi> },
    { key: 'aggregate', value: aggregate },
    { key: 'amount', value: event.amount === null ? unread : formatMoney(event.amount, event.currency, format.locale) },
    { key: 'dedupKey', value: copied('dedupKey', event.dedupKey) },
    { key: 'traceId', value: copied('traceId', event.traceId) || unread },
    { key: 'attempts', value: event.attempts !== null && <Attempts event={event} /> },
    { key: 'createdAt', value: time(event.createdAt) },
    { key: 'lastAttemptAt', value: time(event.lastAttemptAt), absent: 'notYet' },
    { key: 'diedAt', value: time(event.diedAt) },
    { key: 'publishedAt', value: time(event.publishedAt), absent: 'notYet' },
    { key: 'availableAt', value: time(claim.availableAt) },
    { key: 'lockedUntil', value: time(claim.lockedUntil), absent: 'unclaimed' },
    { key: 'lockedBy', value: copied('lockedBy', claim.lockedBy), absent: 'unclaimed' },
  ];
  const repeats = (key: (typeof rows)[number]['key']): boolean =>
    (key === 'topic' && event.topic === event.type) || (key === 'diedAt' && (event.diedAt ?? event.lastAttemptAt) === event.lastAttemptAt);
  const held = (key: (typeof rows)[number]['key']): boolean => key === 'id' || key === 'type' || fields[key];
  // Most tables have no topic and no claims, so their absence is not shown.
  const facts = rows
    .filter(({ key }) => (held(key) || !SELDOM.includes(key)) && !repeats(key))
    .map(({ key, value, absent = 'empty' }): [string, ReactNode] => [
      t(key),
      held(key) ? value || <span className={classes.dimmed}>{t(absent)}</span> : <Figure text={null} why="not_in_schema" />,
    ]);
  const place = (
    <>
      <TextLink href={outboxHref(outbox.id)} size="sm" label={<bdi>{outbox.name}</bdi>} />{' '}
      <span className={classes.dimmed}>
        <bdi className={classes.mono}>{outbox.table}</bdi>
      </span>
    </>
  );
  const linked = (
    <span className={classes.links}>
      {links.map(({ label, url }) => (
        <Anchor key={url} href={url} target="_blank" rel="noreferrer noopener" size="sm">
          <bdi>{label}</bdi> <IconExternalLink size={12} aria-hidden />
        </Anchor>
      ))}
    </span>
  );
  return (
    <Block title={t('title')}>
      <FactList paired className={classes.facts} facts={[...facts, [t('outbox'), place], [t('links'), links.length > 0 ? linked : null]]} />
    </Block>
  );
}

const SELDOM: readonly string[] = ['topic', 'diedAt', 'availableAt', 'lockedUntil', 'lockedBy'];
