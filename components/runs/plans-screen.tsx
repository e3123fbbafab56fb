'use client';

import { Textarea } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { PLAN_IDS_MAX } from '@/lib/shared/runs/plans';
import type { PlansSnapshot } from '@/lib/shared/runs/screens';
import type { ActionResult } from '@/lib/shared/problems';
import { Select } from '../frame/controls';
import { useConsole, useMay } from '../frame/console';
import { usePolledSnapshot } from '../frame/live';
import { Notice } from '../frame/note';
import { Form, TextButton } from '../frame/popovers';
import { useMakePlan, usePlanWord } from '../interventions/use-plan';
import { ProblemPanel } from '../interventions/problem-panel';
import { ReasonField, useReason } from '../interventions/reason-field';
import { PlanList } from './plan-list';
import classes from './runs.module.css';

interface PlansScreenProps {
  initial: PlansSnapshot;
  load: (input: Record<string, never>) => Promise<ActionResult<PlansSnapshot>>;
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
      <h1 className={classes.title}>{title}</h1>
      <div className={classes.frame}>
        {snapshot.plans.length === 0 ? (
          <Notice title={t(approvals ? 'approvals.none' : 'none')} text={t(approvals ? 'approvals.noneText' : 'noneText')} />
        ) : (
          <PlanList plans={snapshot.plans} label={title} />
        )}
      </div>
      {!approvals && mayOperate && <IdsForm />}
    </div>
  );
}

/** The ids in a pasted text, each once. */
export const idsOf = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter((id) => id !== ''))];

const OPERATIONS = ['requeue', 'retry', 'release', 'archive', 'restore'] as const;

function IdsForm() {
  const t = useTranslations('plans');
  const frame = useTranslations('frame');
  const planWord = usePlanWord();
  const outboxes = useConsole().outboxes.filter(({ changeable }) => changeable);
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
          aria-label={t('operation')}
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
