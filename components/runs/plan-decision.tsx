import { useTranslations } from 'next-intl';
import { useState, type ReactNode } from 'react';
import { isFollowed } from '@/lib/shared/changes/fates';
import type { Action } from '@/lib/shared/problems';
import { hasWarnings, PLAN_HOURS, type Approval, type Plan } from '@/lib/shared/runs/plans';
import type { Run } from '@/lib/shared/runs/runs';
import { visibleText } from '@/lib/shared/text/visible-text';
import { useFormat } from '../figures/format';
import { useMay } from '../frame/console';
import { useGo } from '../frame/go';
import { CopyText, TextButton } from '../frame/controls';
import { useChange } from '../frame/use-change';
import { runHref } from '../hrefs';
import { PlanAgain } from '../interventions/plan-button';
import { ProblemPanel } from '../interventions/problem-panel';
import { ReasonField, useReason } from '../interventions/reason-field';
import { stateOfPlan } from './planned';
import classes from './runs.module.css';

export interface PlanDecisions extends Record<'approve' | 'refuse', Action<{ plan: string; reason: string; hash: string }>> {
  start: Action<{ plan: string; key: string }, Pick<Run, 'id'>>;
}

interface PlanDecisionProps {
  plan: Plan;
  decisions: PlanDecisions;
  onChanged: () => Promise<void>;
}

/** What can be done with a plan now, by whom and until when, or why nothing can. */
export function PlanDecision({ plan, decisions, onChanged }: PlanDecisionProps) {
  const t = useTranslations('plans');
  const mayOperate = useMay('event:operate');
  const standing = stateOfPlan(plan);
  // Of many pasted ids not all are here.
  const isWhole = !('ids' in plan.source) || plan.source.ids.length === plan.count;
  const again = mayOperate && isWhole && <PlanAgain outbox={plan.outbox} request={plan} />;
  const box = (hue: string, text: ReactNode, buttons?: ReactNode) => (
    <section className={classes.decision} data-hue={hue}>
      <p>{text}</p>
      {buttons}
    </section>
  );
  if (standing === 'started')
    return box('grey', t('decide.started'), plan.run !== null && <TextButton href={runHref(plan.run)} label={t('seeRun')} />);
  if (standing === 'refused' && plan.approval !== null) return box('red', <Answered approval={plan.approval} as="refused" />, again);
  if (standing === 'void' || plan.state === 'expired')
    return box('grey', t(`decide.${plan.state === 'expired' ? 'expired' : 'void'}`, { hours: PLAN_HOURS }), again);
  const startable = <Start plan={plan} decisions={decisions} onChanged={onChanged} again={again} />;
  if (plan.approval === null) return startable;
  if (standing === 'approved')
    return (
      <>
        {box('green', <Answered approval={plan.approval} as="approved" />)}
        {startable}
      </>
    );
  if (standing === 'requested') return <Requested plan={plan} approval={plan.approval} decisions={decisions} onChanged={onChanged} />;
  return box('grey', <Answered approval={plan.approval} as={plan.approval.answer === null ? 'unanswered' : 'lapsed'} />, again);
}

function Answered({ approval: { answer, until }, as }: { approval: Approval; as: 'approved' | 'refused' | 'unanswered' | 'lapsed' }) {
  const t = useTranslations('plans');
  const format = useFormat();
  return t.rich(`decide.${as}`, {
    by: () => <bdi>{visibleText(answer?.by ?? '')}</bdi>,
    reason: () => <q>{visibleText(answer?.reason ?? '')}</q>,
    at: format.absolute(until),
  });
}

function Start({ plan, decisions: { start }, onChanged, again }: PlanDecisionProps & { again: ReactNode }) {
  const t = useTranslations('plans');
  const mayOperate = useMay('event:operate');
  const { go } = useGo();
  // The same plan started twice is one run.
  const [key] = useState(() => crypto.randomUUID());
  const { send, sending, problem } = useChange(start, {
    onDone: async (run) => {
      go((router) => router.push(runHref(run.id)));
      await onChanged();
    },
  });
  const warned = hasWarnings(plan) ? 'yes' : 'no';
  return (
    <section className={classes.decision} data-hue="accent">
      <p>{mayOperate ? t(isFollowed(plan.operation) ? 'decide.open' : 'decide.batches', { warned }) : t('decide.mayNot')}</p>
      {problem !== null && (
        <ProblemPanel problem={problem} outbox={plan.outbox} of="start">
          {(problem.code === 'approval_required' || problem.code === 'conflict') && again}
        </ProblemPanel>
      )}
      {mayOperate && (
        <TextButton
          loading={sending}
          onClick={() => send({ plan: plan.id, key })}
          label={t(isFollowed(plan.operation) ? 'start' : 'startBatches')}
        />
      )}
    </section>
  );
}

function Requested({ plan, approval, decisions, onChanged }: PlanDecisionProps & { approval: Approval }) {
  const t = useTranslations('plans');
  const format = useFormat();
  const mayApprove = useMay('plan:approve') && !plan.own;
  const because = approval.because.map((limit) => t(`because.${limit}`)).join(', ');
  return (
    <section className={classes.decision} data-hue="amber">
      <p>{t('decide.requested', { because, at: format.absolute(approval.until) })}</p>
      {approval.nobody ? (
        <p>{t('decide.nobody')}</p>
      ) : mayApprove ? (
        <AnswerForm plan={plan} decisions={decisions} onChanged={onChanged} />
      ) : (
        <>
          <p>{t(plan.own ? 'decide.own' : 'decide.mayNotApprove')}</p>
          {/* Only in a browser is there an address. */}
          {plan.own && <CopyText text={typeof window === 'undefined' ? '' : window.location.href} label={t('copyAddress')} size="sm" />}
        </>
      )}
    </section>
  );
}

function AnswerForm({ plan, decisions, onChanged: onDone }: PlanDecisionProps) {
  const t = useTranslations('plans');
  const { reason, field, touch } = useReason();
  const approving = useChange(decisions.approve, { onDone });
  const refusing = useChange(decisions.refuse, { onDone });
  const problem = approving.problem ?? refusing.problem;
  const answer = (to: typeof approving) => () => {
    touch();
    // What was seen is what is answered: another hash is refused.
    if (reason !== null && !approving.sending && !refusing.sending) to.send({ plan: plan.id, reason, hash: plan.hash });
  };
  return (
    <div className={classes.answer} role="group" aria-label={t('answer')}>
      <p className={classes.dimmed}>{t('answerText', { hash: plan.hash.slice(0, 12) })}</p>
      <ReasonField {...field} label={t('answerReason')} first={false} />
      {problem !== null && <ProblemPanel problem={problem} outbox={plan.outbox} of="answer" />}
      <div className={classes.buttons}>
        <TextButton loading={approving.sending} onClick={answer(approving)} label={t('approve')} />
        <TextButton variant="default" loading={refusing.sending} onClick={answer(refusing)} label={t('refuse')} />
      </div>
    </div>
  );
}
