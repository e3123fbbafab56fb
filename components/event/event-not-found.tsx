'use client';

import { Button } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { Link } from '../frame/go';
import { useParams } from 'next/navigation';
import { Notice } from '../frame/note';
import { eventAuditHref } from '../hrefs';
import classes from './event-screen.module.css';

export function EventNotFound() {
  const t = useTranslations('event.notFound');
  const { outbox = '', event = '' } = useParams<{ outbox: string; event: string }>();
  const id = decodeURIComponent(event);
  return (
    <div className={classes.block}>
      <Notice title={t('title')} text={t.rich('text', { id: () => <bdi className={classes.mono}>{id}</bdi> })}>
        <Button component={Link} href={eventAuditHref(id)} size="xs">
          {t('audit')}
        </Button>
        <Button
          component={Link}
          variant="default"
          href={`/outboxes/${outbox}/events?${new URLSearchParams({ q: id }).toString()}`}
          size="xs"
        >
          {t('search')}
        </Button>
      </Notice>
    </div>
  );
}
