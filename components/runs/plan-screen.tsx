'use client';

import { Title } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { isFollowed } from '@/lib/shared/changes/fates';
import type { ActionResult } from '@/lib/shared/problems';
import type { Plan } from '@/lib/shared/runs/plans';
import type { PlanSnapshot } from '@/lib/shared/runs/screens';
import { visibleText } from '@/lib/shared/text/visible-text';
import { Hint } from '../figures/figure';
import { AbsoluteTime, RelativeTime, useFormat } from '../figures/format';
import { PlainLink } from '../frame/go';
import { usePolledSnapshot } from '../frame/live';
import { FactList, SignedText } from '../frame/note';
import { CopyText } from '../frame/controls';
import { outboxHref, runHref } from '../hrefs';
import { useWarningText } from '../interventions/operations';
import { PreviewRows, SqlView } from '../interventions/preview-rows';
import { PlanDecision, type PlanDecisions } from './plan-decision';
import { Planned, PlanState, stateOfPlan, useSums } from './planned';
import classes from './runs.module.css';

interface PlanScreenProps {
  initial: PlanSnapshot;
  load: (input: { plan: string }) => Promise<ActionResult<PlanSnapshot>>;
  decisions: PlanDecisions;
}

/** What would run, for who starts it and for who has to agree: both see the same. */
export function PlanScreen({ initial, load, decisions }: PlanScreenProps) {
  const t = useTranslations('plans');
  const problems = useTranslations('problems');
  const format = useFormat();
  const { id } = initial.plan;
  const { snapshot, refresh } = usePolledSnapshot({ key: ['plan', id], action: () => load({ plan: id }), initial });
  const { plan, events, unread } = snapshot;
  const sums = useSums()(plan);
  const rows = events.map((event) => ({ event: { ...event, version: '' }, allowed: true, code: null, because: null }));
  const { expectedSeconds: seconds } = plan;
  // To the minute, where it takes some.
  const time = seconds === null ? '' : format.age(1_000 * (seconds < 120 ? Math.ceil(seconds) : 60 * Math.round(seconds / 60)));
  const lead = isFollowed(plan.operation) ? 'lead.followed' : plan.operation === 'restore' ? 'lead.restore' : 'lead.batches';
  const goesOn = !['refused', 'expired', 'void'].includes(stateOfPlan(plan));
  return (
    <div className={classes.screen}>
      <header className={classes.top}>
        <div className={classes.head}>
          <Title order={1}>
            <Planned plan={plan} />
            {sums !== '' && `, ${sums}`}
          </Title>
          <PlanState plan={plan} />
        </div>
        {goesOn && <p className={classes.lead}>{t(lead, { count: plan.count, known: seconds === null ? 'no' : 'yes', time })}</p>}
      </header>
      <Warnings plan={plan} />
      <PlanDecision plan={plan} decisions={decisions} onChanged={refresh} />
      <Facts plan={plan} />
      <section className={classes.card}>
        <h2 className={classes.heading}>{t('events', { shown: rows.length, count: plan.count, left: plan.count - rows.length })}</h2>
        {rows.length > 0 ? <PreviewRows rows={rows} /> : <p className={classes.dimmed}>{unread === null ? t('gone') : problems(unread)}</p>}
        <SqlView statements={plan.sql} />
      </section>
    </div>
  );
}

/** Each with how many events it is about. */
function Warnings({ plan: { warnings, operation, count, source, orderNotLooked } }: { plan: Plan }) {
  const t = useTranslations();
  const warning = useWarningText(operation);
  // Lists and causes leave out what is in another state: it is none of the plan's.
  const some = (code: string, about: number) =>
    code === 'wrong_state' && !('ids' in source || 'run' in source)
      ? t('interventions.beside', { count: about })
      : count > 1
        ? t('interventions.some', { count: about, all: count })
        : '';
  const found = Object.entries(warnings).filter(([, about]) => about > 0);
  if (found.length === 0 && orderNotLooked === 0) return null;
  return (
    <section className={classes.warnings} aria-label={t('plans.warnings')}>
      {found.map(([code, about]) => (
        <SignedText key={code} text={some(code, about) + warning(code)} />
      ))}
      {orderNotLooked > 0 && <p className={classes.dimmed}>{t('plans.orderNotLooked', { count: orderNotLooked })}</p>}
    </section>
  );
}

const TYPES_SHOWN = 3;
const HASH_SHOWN = 12;

function Facts({ plan }: { plan: Plan }) {
  const t = useTranslations('plans');
  const { maker, reason, createdAt, types, oldestAt, searched, expiresAt, hash, source } = plan;
  const more = types.length - TYPES_SHOWN;
  const typeTexts = types
    .slice(0, TYPES_SHOWN)
    .map(({ type, count }) => t('facts.type', { type: type === null ? t('facts.noType') : visibleText(type), count }));
  const facts: [string, ReactNode][] = [
    [t('facts.reason'), <bdi>{visibleText(reason)}</bdi>],
    [t('facts.maker'), t.rich('facts.made', { maker: () => <bdi>{visibleText(maker)}</bdi>, at: () => <RelativeTime at={createdAt} /> })],
    [t('facts.source'), <Source plan={plan} />],
    [t('facts.types'), [...typeTexts, ...(more > 0 ? [t('facts.moreTypes', { count: more })] : [])].join(' · ')],
    [t('facts.oldest'), oldestAt === null ? null : <RelativeTime at={oldestAt} />],
    // Given ids were looked at one by one.
    [
      t('facts.searched'),
      'ids' in source || 'run' in source ? null : t('searched', { ...searched, complete: searched.complete ? 'yes' : 'no' }),
    ],
    [t('facts.ends'), plan.state === 'open' && plan.approval === null ? <AbsoluteTime at={expiresAt} /> : null],
    [
      t('facts.hash'),
      hash === '' ? null : (
        <span className={classes.hash}>
          <Hint reason={t('facts.hashWhy')}>
            <code>{hash.slice(0, HASH_SHOWN)}</code>
          </Hint>
          <CopyText text={hash} label={t('facts.copyHash')} />
        </span>
      ),
    ],
  ];
  return <FactList paired className={classes.facts} facts={facts} />;
}

/** Where its events come from, with the way there. */
function Source({ plan: { source, outbox, count } }: { plan: Plan }) {
  const t = useTranslations('plans');
  if ('ids' in source) return t('source.ids', { count });
  const [key, href] =
    'run' in source
      ? (['source.run', runHref(source.run)] as const)
      : 'cause' in source
        ? (['source.cause', outboxHref(outbox, `/dead-letters?${new URLSearchParams(source).toString()}`)] as const)
        : (['source.filter', outboxHref(outbox, `/events?${source.filter}`)] as const);
  return t.rich(key, { link: (text) => <PlainLink href={href}>{text}</PlainLink> });
}
