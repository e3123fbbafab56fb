import { ActionIcon, CopyButton, Anchor } from '@mantine/core';
import { IconCheck, IconCopy, IconExternalLink } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import type { ReactNode } from 'react';
import type { EventDetail, OutboxInfo } from '@/lib/shared/model';
import { formatAmount } from '@/lib/shared/text/money';
import { Figure } from '../figures/figure';
import { AbsoluteTime, RelativeTime } from '../figures/time';
import { useFormat } from '../figures/use-format';
import classes from './event-screen.module.css';

/** A value in mono with a button that copies it whole, however it is cut on screen. */
function CopyValue({ value, label }: { value: string; label: string }) {
  return (
    <span className={classes.copyValue}>
      <bdi className={classes.mono}>{value}</bdi>
      <CopyAction value={value} label={label} />
    </span>
  );
}

export function CopyAction({ value, label }: { value: string; label: string }) {
  const t = useTranslations('event');
  return (
    <CopyButton value={value} timeout={1_500}>
      {({ copied, copy }) => (
        <ActionIcon
          size="sm"
          variant="subtle"
          color={copied ? 'green' : 'gray'}
          onClick={copy}
          aria-label={copied ? t('copied', { label }) : t('copy', { label })}
          title={copied ? t('copied', { label }) : t('copy', { label })}
        >
          {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
        </ActionIcon>
      )}
    </CopyButton>
  );
}

/** Every field by its role. What the table cannot hold is told apart from what is empty. */
export function Facts({ detail: { event, claim, links }, outbox }: { detail: EventDetail; outbox: OutboxInfo }) {
  const t = useTranslations('event.facts');
  const format = useFormat();
  const { fields } = outbox.capabilities;
  const copied = (value: string | null, label: string): ReactNode => (value === null ? null : <CopyValue value={value} label={label} />);
  const unread = event.tooLarge ? <Figure text={null} why="too_large" /> : null;
  const time = (at: string | null): ReactNode =>
    at === null ? null : (
      <>
        <AbsoluteTime at={at} />{' '}
        <span className={classes.dimmed}>
          (<RelativeTime at={at} />)
        </span>
      </>
    );
  const rows: { key: string; inTable: boolean; value: ReactNode; absent: 'empty' | 'notYet' | 'unclaimed' }[] = [
    { key: 'id', inTable: true, value: <CopyValue value={event.id} label={t('id')} />, absent: 'empty' },
    { key: 'type', inTable: true, value: event.type === null ? null : <bdi>{event.type}</bdi>, absent: 'empty' },
    {
      key: 'aggregate',
      inTable: fields.aggregate,
      value:
        event.aggregateId === null ? null : (
          <>
            {event.aggregateType !== null && <bdi className={classes.dimmed}>{event.aggregateType} </bdi>}
            {copied(event.aggregateId, t('aggregate'))}
          </>
        ),
      absent: 'empty',
    },
    {
      key: 'amount',
      inTable: fields.amount,
      value:
        event.amount === null
          ? unread
          : `${formatAmount(event.amount, format.locale)}${event.currency === null ? '' : ` ${event.currency}`}`,
      absent: 'empty',
    },
    { key: 'dedupKey', inTable: fields.dedupKey, value: copied(event.dedupKey, t('dedupKey')), absent: 'empty' },
    { key: 'traceId', inTable: fields.traceId, value: copied(event.traceId, t('traceId')) ?? unread, absent: 'empty' },
    {
      key: 'attempts',
      inTable: fields.attempts,
      value:
        event.attempts === null
          ? null
          : event.maxAttempts === null
            ? format.number(event.attempts)
            : t('attemptsOf', { attempts: format.number(event.attempts), max: format.number(event.maxAttempts) }),
      absent: 'empty',
    },
    { key: 'createdAt', inTable: fields.createdAt, value: time(event.createdAt), absent: 'empty' },
    { key: 'lastAttemptAt', inTable: fields.lastAttemptAt, value: time(event.lastAttemptAt), absent: 'notYet' },
    { key: 'publishedAt', inTable: fields.publishedAt, value: time(event.publishedAt), absent: 'notYet' },
    // Most tables have no claims, and what they lack is no news.
    ...(fields.availableAt ? [{ key: 'availableAt', inTable: true, value: time(claim.availableAt), absent: 'empty' } as const] : []),
    ...(fields.lockedUntil ? [{ key: 'lockedUntil', inTable: true, value: time(claim.lockedUntil), absent: 'unclaimed' } as const] : []),
    ...(fields.lockedBy
      ? [{ key: 'lockedBy', inTable: true, value: copied(claim.lockedBy, t('lockedBy')), absent: 'unclaimed' } as const]
      : []),
  ];
  return (
    <section className={classes.block} aria-label={t('title')}>
      <header className={classes.blockHeader}>
        <h2>{t('title')}</h2>
      </header>
      <dl className={classes.facts}>
        {rows.map(({ key, inTable, value, absent }) => (
          <div key={key}>
            <dt>{t(key)}</dt>
            <dd>{inTable ? (value ?? <span className={classes.dimmed}>{t(absent)}</span>) : <Figure text={null} why="not_in_schema" />}</dd>
          </div>
        ))}
        <div>
          <dt>{t('outbox')}</dt>
          <dd>
            <Anchor component={Link} href={`/outboxes/${encodeURIComponent(outbox.id)}`} size="sm">
              <bdi>{outbox.name}</bdi>
            </Anchor>{' '}
            <span className={classes.dimmed}>
              <bdi className={classes.mono}>{outbox.table}</bdi>
            </span>
          </dd>
        </div>
        {links.length > 0 && (
          <div>
            <dt>{t('links')}</dt>
            <dd className={classes.links}>
              {links.map(({ label, url }) => (
                <Anchor key={url} href={url} target="_blank" rel="noreferrer noopener" size="sm">
                  <bdi>{label}</bdi> <IconExternalLink size={12} aria-hidden />
                </Anchor>
              ))}
            </dd>
          </div>
        )}
      </dl>
    </section>
  );
}
