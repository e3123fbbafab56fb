import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { Form, Select, TextButton } from '../frame/controls';
import classes from '../frame/reason-popover.module.css';
import { type PlanChoice, useMakePlan, usePlanWord } from './use-plan';
import { ProblemPanel } from './problem-panel';
import { ReasonField, useReason } from './reason-field';

/** In a file of its own, so that most screens do not load its text area. */
export function PlanForm({ outbox, operations, source, about, onClose }: PlanChoice & { onClose: () => void }) {
  const t = useTranslations();
  const planWord = usePlanWord();
  const [operation, setOperation] = useState(operations[0]);
  const { reason, field, touch } = useReason();
  const { send, sending, problem } = useMakePlan(outbox);
  const submit = () => {
    touch();
    if (reason !== null && !sending) send({ operation, reason, source });
  };
  return (
    <Form className={classes.form} noValidate onSubmit={submit}>
      {operations.length > 1 ? (
        <Select
          aria-label={t('plans.facts.operation')}
          data={operations.map((value) => ({ value, label: planWord(value) }))}
          value={operation}
          onChange={(event) => setOperation(event.currentTarget.value)}
        />
      ) : (
        <strong>{planWord(operation)}</strong>
      )}
      {about !== undefined && <p>{about}</p>}
      <ReasonField {...field} onSubmit={submit} />
      <p>{t('plans.nothingYet')}</p>
      {problem !== null && <ProblemPanel problem={problem} outbox={outbox} />}
      <div className={classes.buttons}>
        <TextButton size="sm" type="submit" loading={sending} label={t('plans.make')} />
        <TextButton size="sm" variant="default" onClick={onClose} label={t('interventions.cancel')} />
      </div>
    </Form>
  );
}
