'use client';

import { Alert, Anchor } from '@mantine/core';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import { useEffect, useEffectEvent, useState } from 'react';
import { useAgo } from '../figures/ago';
import type { InterventionActions } from './actions';
import { lookUp, type End } from './carry-out';
import { forgetSent, sentBy, type Sent } from './sent';
import { useOperationName } from './words';
import frame from '../frame/frame.module.css';

interface SentNoticeProps {
  sent: Sent;
  check: InterventionActions['check'];
  onClose: () => void;
}

/** One intervention that was sent before this page was loaded, or whose dialog was closed: what became of it. */
export function SentNotice({ sent, check, onClose }: SentNoticeProps) {
  const t = useTranslations('interventions');
  const name = useOperationName();
  const ago = useAgo();
  const [end, setEnd] = useState<Exclude<End, 'gone'> | null>(null);
  const [checkedAt, setCheckedAt] = useState<number | null>(null);
  const close = useEffectEvent(onClose);
  useEffect(() => {
    let gone = false;
    // Another tab may have been told meanwhile.
    const isGone = (): boolean => gone || !sentBy(sent.account).some(({ key }) => key === sent.key);
    void lookUp(check, sent, sent.sentAt, { gone: isGone, onChecking: setCheckedAt }).then((told) => {
      if (told === 'gone') {
        if (!gone) close();
        return;
      }
      forgetSent(sent.key);
      setEnd(told);
    });
    return () => {
      gone = true;
    };
  }, [check, sent]);
  const result = end !== null && 'result' in end ? end.result : null;
  const operation = name(sent.operation);
  return (
    <Alert
      color={end === null ? 'yellow' : 'accent'}
      icon={end === null ? <IconAlertTriangle size={18} aria-hidden /> : <IconCheck size={18} aria-hidden />}
      title={
        end === null
          ? t('unknownTitle', { operation })
          : result === null
            ? t('absentTitle', { operation })
            : `${operation}: ${t(`outcome.${result.outcome}`, { changed: result.changed.length, skipped: result.skipped.length })}`
      }
      withCloseButton={end !== null}
      closeButtonLabel={t('close')}
      onClose={onClose}
      classNames={{ root: frame.notice, title: frame.noticeTitle, icon: end === null ? frame.noticeIcon : undefined }}
    >
      <p>{t('sent', { count: sent.count, outbox: sent.outboxName, ago: ago(new Date(sent.sentAt).toISOString()) })}</p>
      {end === null && <p>{t('unknown')}</p>}
      {end === null && <p>{checkedAt === null ? t('checking') : t('checkedAt', { ago: ago(new Date(checkedAt).toISOString()) })}</p>}
      {end !== null && result === null && <p>{t('absent')}</p>}
      <Anchor component={Link} href={`/audit?outbox=${encodeURIComponent(sent.outbox)}`}>
        {t('seeAudit')}
      </Anchor>
    </Alert>
  );
}
