'use client';

import { Title } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { Action } from '@/lib/shared/problems';
import type { LeftCode } from '@/lib/shared/runs/plans';
import type { Run } from '@/lib/shared/runs/runs';
import { SKIP_CODES, type SkipCode } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import { RelativeTime, useFormat } from '../figures/format';
import { useMay, useOutboxName } from '../frame/console';
import { PlainLink } from '../frame/go';
import { usePolledSnapshot } from '../frame/live';
import { FactList } from '../frame/note';
import { actionHref, outboxAuditHref, planHref } from '../hrefs';
import { PlanButton } from '../interventions/plan-button';
import { useSkipText } from '../interventions/operations';
import { Planned, RunMark } from './planned';
import { RunControls, type RunActions } from './run-controls';
import { hueOfRun, isEnded, sharesOf, useRunSentence } from './run-sentence';
import classes from './runs.module.css';

/** While something goes on. */
const LIVE_MS = 1_500;

/** What a run does, did, and left. */
export function RunScreen({ initial, load, actions }: { initial: Run; load: Action<{ run: string }, Run>; actions: RunActions }) {
  const t = useTranslations('runs');
  const format = useFormat();
  const { id } = initial;
  const mayOperate = useMay('event:operate');
  const { snapshot: run, refresh } = usePolledSnapshot({
    key: ['run', id],
    action: () => load({ run: id }),
    initial,
    pollMs: (of) => (isEnded(of) ? undefined : LIVE_MS),
  });
  const { title, advice } = useRunSentence(run);
  const { asOf, followedUntil } = run;
  const stands = (isEnded(run) || run.state === 'paused') && run.fates.waiting > 0;
  return (
    <div className={classes.screen}>
      <header className={classes.head}>
        <Title order={1}>
          <Planned plan={{ ...run, count: run.requested }} />
        </Title>
        <RunMark run={run} />
        {/* In a line that stays, so that nothing moves when they go. */}
        {mayOperate && !isEnded(run) && <RunControls run={run} actions={actions} onChanged={refresh} />}
      </header>
      <section className={classes.now} data-hue={hueOfRun(run)}>
        <p className={classes.says} role="status">
          {title}
        </p>
        <RunBar run={run} />
        {advice !== null && <p>{advice}</p>}
        {stands && (
          <p className={classes.dimmed}>
            {t(followedUntil === null ? 'lastLooked' : 'followed', { at: format.absolute(followedUntil ?? asOf) })}
          </p>
        )}
        {run.error !== null && run.fates.failedAgain > 0 && <bdi className={classes.error}>{visibleText(run.error)}</bdi>}
      </section>
      <Facts run={run} />
      {/* Last: it comes and goes while the run is under way. */}
      {mayOperate && <Leftovers run={run} />}
    </div>
  );
}

/** What became of all events, as a bar with its legend: places are kept, so that figures change and nothing moves. */
function RunBar({ run }: { run: Run }) {
  const t = useTranslations('runs');
  const format = useFormat();
  const shares = sharesOf(run);
  const kept = run.followed ? ['out', 'failed', 'waiting', 'other', 'skipped', 'remaining'] : ['done', 'skipped', 'remaining'];
  const shown = (Object.keys(shares) as (keyof typeof shares)[]).filter((part) => kept.includes(part) || shares[part] > 0);
  return (
    <figure className={classes.progress} aria-label={t('bar')}>
      <div className={classes.bar} aria-hidden>
        {shown.map((part) => shares[part] > 0 && <span key={part} data-part={part} style={{ flexGrow: shares[part] }} />)}
      </div>
      <dl className={classes.legend} style={{ ['--digits' as string]: format.number(run.requested).length }}>
        {shown.map((part) => (
          <div key={part} data-part={part}>
            <dt>{t(`legend.${part}`)}</dt>
            <dd>{format.number(shares[part])}</dd>
          </div>
        ))}
      </dl>
    </figure>
  );
}

/** Of these nothing is left to be changed. */
const OVER: readonly LeftCode[] = ['not_found', 'already_published'];

/** Codes after which the same operation can be tried again, in a plan of their own. */
const isSkip = (code: string): code is SkipCode => (SKIP_CODES as readonly string[]).includes(code);

/** What was not done or came back, each with the plan that takes it on; while it runs, what the relay has not taken. */
function Leftovers({ run }: { run: Run }) {
  const t = useTranslations('runs');
  const skipText = useSkipText();
  const format = useFormat();
  // What is not touched yet is only left by a run that does not go on.
  const remaining = run.state === 'cancelled' ? run.remaining : 0;
  const counts = {
    ...run.left,
    failed_again: run.fates.failedAgain,
    waiting: run.fates.waiting,
    remaining,
    changed: run.followed ? 0 : run.changed,
  };
  const lines = (Object.entries(counts) as [LeftCode, number][]).filter(([, count]) => count > 0);
  if (lines.length === 0) return null;
  const word = (code: LeftCode): string => (isSkip(code) ? skipText(code) : t(`left.${code}`));
  return (
    <section className={classes.card}>
      <h2 className={classes.heading}>{t('leftTitle')}</h2>
      <ul className={classes.left}>
        {lines.map(([code, count]) => (
          <li key={code}>
            <span className={classes.number}>{format.number(count)}</span>
            <span>{word(code)}</span>
            {code === 'waiting' || code === 'changed' ? (
              <PlanButton
                label={t('takeBack', { count })}
                about={t(run.operation === 'archive' ? 'restoreAbout' : 'takeBackAbout')}
                outbox={run.outbox}
                operations={[run.operation === 'archive' ? 'restore' : 'archive']}
                source={{ run: run.id, codes: [code] }}
                variant="default"
              />
            ) : OVER.includes(code) ? null : (
              <PlanButton
                label={t('planThe', { count })}
                of={word(code)}
                about={word(code)}
                outbox={run.outbox}
                operations={[run.operation]}
                source={{ run: run.id, codes: [code] }}
                variant={code === 'failed_again' && isEnded(run) ? 'filled' : 'default'}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Facts({ run }: { run: Run }) {
  const t = useTranslations('runs');
  const format = useFormat();
  const outboxName = useOutboxName();
  const { pace, beganAt, endedAt } = run;
  const { ratePerSecond: rate } = pace;
  const facts: [string, ReactNode][] = [
    [t('facts.reason'), <bdi>{visibleText(run.reason)}</bdi>],
    [t('facts.maker'), <bdi>{visibleText(run.maker)}</bdi>],
    [t('facts.began'), beganAt === null ? t('facts.notYet') : <RelativeTime at={beganAt} />],
    [t('facts.ended'), endedAt === null ? t('facts.notYet') : <RelativeTime at={endedAt} />],
    [
      t('facts.pace'),
      run.followed ? t('pace.now', { share: format.percent(pace.share), limited: rate === null ? 'no' : 'yes', rate: rate ?? 0 }) : null,
    ],
    [t('facts.plan'), <PlainLink href={planHref(run.plan)}>{t('seePlan')}</PlainLink>],
    [
      t('facts.audit'),
      <>
        <PlainLink href={actionHref(run.id)}>{t('audit.run')}</PlainLink>
        {' · '}
        <PlainLink href={outboxAuditHref(run.outbox)}>{t('audit.outbox', { outbox: outboxName(run.outbox) })}</PlainLink>
      </>,
    ],
  ];
  return <FactList paired className={classes.facts} facts={facts} />;
}
