'use client';

import { Anchor } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import type { ReactNode } from 'react';
import type { AuditEntry } from '@/lib/shared/model';
import { timeInId } from '@/lib/shared/changes/record-time';
import { visibleText } from '@/lib/shared/text/visible-text';
import { useFormat } from '../figures/use-format';
import { useBecauseText } from '../interventions/operations';
import classes from './audit.module.css';

interface AuditSentenceProps {
  entry: AuditEntry;
  outboxName: string;
  /** On the event's own page: without saying which event. */
  brief?: boolean;
}

/** Who did what to which event, and why: the line of the audit, without its time. */
export function AuditSentence({ entry, outboxName, brief }: AuditSentenceProps) {
  const t = useTranslations();
  const because = useBecauseText();
  const format = useFormat();
  const { operation, outcome, eventId, code, interventionId } = entry;
  const made = interventionId === null ? null : timeInId(interventionId);
  const parts = {
    actor: (): ReactNode => <bdi className={classes.actor}>{entry.actor}</bdi>,
    outbox: (): ReactNode => <bdi className={classes.outbox}>{outboxName}</bdi>,
  };
  const sentence = (): ReactNode => {
    const values = { ...parts, outcome, operation };
    if (t.has(`operations.${operation}.sentence`)) return t.rich(`operations.${operation}.sentence`, values);
    if (!t.has(`audit.sentences.${operation}`)) return t.rich('audit.sentence', values);
    return t.rich(`audit.sentences.${operation}`, { ...values, scope: entry.outbox === null ? 'all' : 'one', subject: subjectOf(entry) });
  };
  return (
    <span className={classes.sentence}>
      {sentence()}
      {!brief && eventId !== null && entry.outbox !== null && (
        <>
          {' ('}
          <Anchor component={Link} href={eventHref(entry.outbox, eventId)} prefetch={false} inherit>
            <bdi>{[entry.eventType, entry.aggregateId ?? eventId].filter((part) => part !== null).join(' · ')}</bdi>
          </Anchor>
          {')'}
        </>
      )}
      {entry.reason !== '' && (
        <>
          {': '}
          <q className={classes.reason}>
            <bdi>{visibleText(entry.reason)}</bdi>
          </q>
        </>
      )}
      {entry.oddities.map((oddity) => (
        <span key={oddity} className={classes.odd}>
          <IconAlertTriangle size={13} aria-hidden />
          {t(`audit.oddities.${oddity}`, { at: format.absolute(entry.at), made: made === null ? '' : format.absolute(made) })}
        </span>
      ))}
      {code !== null && <span className={classes.code}>{outcome === 'refused' ? t('audit.refusedBecause', { code }) : because(code)}</span>}
    </span>
  );
}

/** Which account or token an entry is about. */
function subjectOf({ before, after }: AuditEntry): string {
  const values = after ?? before;
  return visibleText(values?.email ?? values?.name ?? '');
}

export function eventHref(outbox: string, event: string): string {
  return `/outboxes/${encodeURIComponent(outbox)}/events/${encodeURIComponent(event)}`;
}
