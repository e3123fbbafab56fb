import { Alert, Button } from '@mantine/core';
import { IconAlertTriangle, IconRefresh } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { lazy, Suspense } from 'react';
import { useFormat } from '../figures/use-format';
import { useSentNotices } from '../interventions/sent-notices';
import { useLiveReading } from './live';
import classes from './frame.module.css';

/** Rarely needed: no screen waits for its script. */
const SentNotice = lazy(async () => ({ default: (await import('../interventions/sent-notice')).SentNotice }));

const NOTICE = { root: classes.notice, title: classes.noticeTitle, icon: classes.noticeIcon };

/**
 * What stands between the reader and fresh numbers: a failed reading, an ended session, a console that was updated
 * underneath this tab; and what was sent and not answered. It lies over the foot of the screen, so that nothing moves when it comes or goes.
 */
export function Notices() {
  const words = useTranslations('frame');
  const problems = useTranslations('problems');
  const format = useFormat();
  const reading = useLiveReading();
  const failing = reading?.failing ?? null;
  const { sent, close } = useSentNotices();
  return (
    <div className={classes.notices} role="status">
      {sent.length > 0 && (
        <Suspense fallback={null}>
          {sent.map((one) => (
            <SentNotice key={one.key} sent={one} onClose={() => close(one.key)} />
          ))}
        </Suspense>
      )}
      {reading?.outdated && (
        <Alert color="accent" icon={<IconRefresh size={18} aria-hidden />} title={words('outdated')} classNames={NOTICE}>
          <div className={classes.noticeBody}>
            {words('outdatedWhy')}
            <Button size="xs" onClick={() => window.location.reload()}>
              {words('reload')}
            </Button>
          </div>
        </Alert>
      )}
      {failing && !reading?.outdated && (
        <Alert
          color="yellow"
          icon={<IconAlertTriangle size={18} aria-hidden />}
          title={words('readingFailed', { clock: format.clock(failing.since) })}
          classNames={NOTICE}
        >
          <div className={classes.noticeBody}>
            <span>
              {failing.code === 'unreachable' ? words('unreachable') : problems(failing.code)}
              {failing.reference && ` ${words('reference', { reference: failing.reference })}`}
            </span>
            {failing.code === 'unauthenticated' && (
              <Button size="xs" onClick={() => window.location.reload()}>
                {words('signIn')}
              </Button>
            )}
          </div>
        </Alert>
      )}
    </div>
  );
}
