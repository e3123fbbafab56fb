'use client';

import { Textarea, Title } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { PLAN_IDS_MAX } from '@/lib/shared/runs/plans';
import type { PlanLine, PlansSnapshot } from '@/lib/shared/runs/screens';
import type { Action } from '@/lib/shared/problems';
import { visibleText } from '@/lib/shared/text/visible-text';
import { RelativeTime, useFormat } from '../figures/format';
import { Form, Select, TextButton } from '../frame/controls';
import { useConsole, useMay } from '../frame/console';
import { PlainLink } from '../frame/go';
import { usePolledSnapshot } from '../frame/live';
import { Notice } from '../frame/note';
import { planHref, runHref } from '../hrefs';
import { useMakePlan, usePlanWord } from '../interventions/use-plan';
import { ProblemPanel } from '../interventions/problem-panel';
import { ReasonField, useReason } from '../interventions/reason-field';
import { Planned, PlanState, RunMark, useSums } from './planned';
import classes from './runs.module.css';

interface PlansScreenProps {
  initial: PlansSnapshot;
  load: Action<Record<string, never>, PlansSnapshot>;
  /** Only those that wait for a second person. */
  approvals?: boolean;
}

export function PlansScreen({ initial, load, approvals = false }: PlansScreenProps) {
  const t = useTranslations('plans');
  const mayOperate = useMay('event:operate');
  const { snapshot } = usePolledSnapshot({ key: [approvals ? 'approvals' : 'plans'], action: () => load({}), initial });
  const title = t(approvals ? 'approvals.title' : 'title');
  return (
    <div className={classes.screen}>
      <Title order={1}>{title}</Title>
      <div className={classes.frame}>
        {snapshot.plans.length === 0 ? (
          <Notice title={t(approvals ? 'approvals.none' : 'none')} text={t(approvals ? 'approvals.noneText' : 'noneText')} />
        ) : (
          <ol className={classes.lines} aria-label={title}>
            {snapshot.plans.map((plan) => (
              <Line key={plan.id} plan={plan} />
            ))}
          </ol>
        )}
      </div>
      {!approvals && mayOperate && <IdsForm />}
    </div>
  );
}

/** A plan, leading to its run where it has one. */
function Line({ plan }: { plan: PlanLine }) {
  const t = useTranslations();
  const format = useFormat();
  const sums = useSums()(plan);
  const { progress, run, approval, maker, reason } = plan;
  return (
    <li>
      <div className={classes.what}>
        <PlainLink href={run === null ? planHref(plan.id) : runHref(run)}>
          <Planned plan={plan} />
        </PlainLink>
        {sums !== '' && <span> · {sums}</span>}
        <p className={classes.dimmed}>
          <bdi>{visibleText(maker)}</bdi> · <RelativeTime at={plan.createdAt} /> · <q>{visibleText(reason)}</q>
        </p>
      </div>
      <div className={classes.standing}>
        {progress === null ? <PlanState plan={plan} /> : <RunMark run={progress} />}
        {progress !== null && (
          <span className={classes.number}>{t('plans.done', { changed: progress.changed, requested: progress.requested })}</span>
        )}
        {progress === null && (approval?.state === 'requested' || approval?.state === 'approved') && (
          <span className={classes.dimmed}>{t('plans.approvals.until', { at: format.absolute(approval.until) })}</span>
        )}
      </div>
    </li>
  );
}

/** The ids in a pasted text, each once. */
export const idsOf = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter((id) => id !== ''))];

const OPERATIONS = ['requeue', 'retry', 'release', 'archive', 'restore'] as const;

function IdsForm() {
  const t = useTranslations('plans');
  const frame = useTranslations('frame');
  const planWord = usePlanWord();
  const { outboxes: all, changeable } = useConsole();
  const outboxes = all.filter(({ id }) => changeable.includes(id));
  const [outbox, setOutbox] = useState(outboxes[0]?.id ?? '');
  const [operation, setOperation] = useState<string>(OPERATIONS[0]);
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(false);
  const { reason, field, touch } = useReason();
  const { send, sending, problem } = useMakePlan(outbox);
  const ids = idsOf(text);
  const fits = ids.length > 0 && ids.length <= PLAN_IDS_MAX;
  const submit = () => {
    touch();
    setWrong(!fits);
    if (fits && reason !== null && !sending) send({ operation, reason, source: { ids } });
  };
  if (outboxes.length === 0) return null;
  return (
    <Form className={classes.card} noValidate onSubmit={submit}>
      <h2 className={classes.heading}>{t('ids.title')}</h2>
      <div className={classes.choices}>
        <Select
          aria-label={frame('outbox')}
          data={outboxes.map(({ id, name }) => ({ value: id, label: name }))}
          value={outbox}
          onChange={(event) => setOutbox(event.currentTarget.value)}
        />
        <Select
          aria-label={t('facts.operation')}
          data={OPERATIONS.map((value) => ({ value, label: planWord(value) }))}
          value={operation}
          onChange={(event) => setOperation(event.currentTarget.value)}
        />
      </div>
      <Textarea
        label={t('ids.label')}
        description={t('ids.hint', { max: PLAN_IDS_MAX })}
        value={text}
        rows={4}
        onChange={(event) => setText(event.currentTarget.value)}
        error={
          ids.length > PLAN_IDS_MAX
            ? t('ids.tooMany', { count: ids.length, max: PLAN_IDS_MAX })
            : wrong && ids.length === 0
              ? t('ids.none')
              : undefined
        }
        spellCheck={false}
        classNames={{ input: classes.mono }}
      />
      <p className={classes.dimmed} role="status">
        {t('ids.count', { count: ids.length })}
      </p>
      <ReasonField {...field} onSubmit={submit} first={false} />
      {problem !== null && <ProblemPanel problem={problem} outbox={outbox} />}
      <div className={classes.buttons}>
        <TextButton type="submit" loading={sending} label={t('make')} />
        <span className={classes.dimmed}>{t('nothingYet')}</span>
      </div>
    </Form>
  );
}
