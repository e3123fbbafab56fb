'use client';

import { useTranslations } from 'next-intl';
import { useParams } from 'next/navigation';
import { Notice } from '../frame/note';
import { TextButton } from '../frame/controls';
import { eventAuditHref } from '../hrefs';
import classes from './event-screen.module.css';

export function EventNotFound() {
  const t = useTranslations('event.notFound');
  const { outbox = '', event = '' } = useParams<{ outbox: string; event: string }>();
  const id = decodeURIComponent(event);
  return (
    <div className={classes.block}>
      <Notice title={t('title')} text={t.rich('text', { id: () => <bdi className={classes.mono}>{id}</bdi> })}>
        <TextButton href={eventAuditHref(id)} size="xs" label={t('audit')} />
        <TextButton
          variant="default"
          href={`/outboxes/${outbox}/events?${new URLSearchParams({ q: id }).toString()}`}
          size="xs"
          label={t('search')}
        />
      </Notice>
    </div>
  );
}
