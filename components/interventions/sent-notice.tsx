import { Alert, Anchor } from '@mantine/core';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import { useEffect, useEffectEvent } from 'react';
import { useAgo } from '../figures/time';
import { useOperationName } from './operations';
import { useOutcome, forgetSent, sentBy, type Sent } from './send';
import frame from '../frame/frame.module.css';

/** One intervention that was sent before this page was loaded, or whose dialog was closed: what became of it. */
export function SentNotice({ sent, onClose }: { sent: Sent; onClose: () => void }) {
  const t = useTranslations('interventions');
  const name = useOperationName();
  const ago = useAgo();
  // Another tab may have been answered meanwhile.
  const { end: known, checkedAt } = useOutcome(sent, () => sentBy(sent.account).some(({ key }) => key === sent.key));
  const close = useEffectEvent(onClose);
  useEffect(() => {
    if (known === 'gone') close();
    else if (known !== null) forgetSent(sent.key);
  }, [known, sent.key]);
  const end = known === 'gone' ? null : known;
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
      <p>{t('sent', { count: sent.count, outbox: sent.outboxName, ago: ago(sent.sentAt) })}</p>
      {end === null && <p>{t('unknown')}</p>}
      {end === null && <p>{checkedAt === null ? t('checking') : t('checkedAt', { ago: ago(checkedAt) })}</p>}
      {end !== null && result === null && <p>{t('absent')}</p>}
      <Anchor component={Link} href={`/audit?outbox=${encodeURIComponent(sent.outbox)}`}>
        {t('seeAudit')}
      </Anchor>
    </Alert>
  );
}
