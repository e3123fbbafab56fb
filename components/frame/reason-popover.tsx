import { type ButtonProps, Textarea } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { REASON_MAX, REASON_MIN } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import { ButtonPopover, Form, TextButton } from './controls';
import classes from './reason-popover.module.css';
import { useChange } from './use-change';

interface ReasonPopoverProps<T> extends Pick<ButtonProps, 'size' | 'variant' | 'leftSection'> {
  label: string;
  /** What the change does, and its consequences. */
  title: string;
  text?: string;
  reasonLabel: string;
  reasonHint: string;
  confirm: string;
  /** A text for a problem; null for the usual one. */
  say?: (problem: ProblemInfo) => string | null;
  send: (reason: string) => Promise<ActionResult<T>>;
  onDone: (answer: T) => void | Promise<void>;
}

/** A change that needs a reason only, behind a button. In a file of its own, so that most screens do not load its text area. */
export function ReasonPopover<T>({ title, text, reasonLabel, reasonHint, confirm, say, send, onDone, ...button }: ReasonPopoverProps<T>) {
  const t = useTranslations('interventions');
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const [short, setShort] = useState(false);
  const change = useChange(send, {
    onDone: async (value) => {
      setOpen(false);
      setReason('');
      await onDone(value);
    },
  });
  const submit = () => {
    const written = reason.trim();
    setShort(written.length < REASON_MIN);
    if (written.length >= REASON_MIN) change.send(written);
  };
  const { problem, problemText } = change;
  const wrong = short ? t('reasonError', { min: REASON_MIN }) : problem && (say?.(problem) ?? problemText);
  return (
    <ButtonPopover size="sm" {...button} title={title} open={open} onOpen={setOpen} width={340}>
      {(close) => (
        // Messages on missing input are ours, in the reader's language.
        <Form className={classes.form} noValidate onSubmit={submit}>
          <strong>{title}</strong>
          {text !== undefined && <p>{text}</p>}
          <Textarea
            size="xs"
            label={reasonLabel}
            description={reasonHint}
            required
            withAsterisk={false}
            rows={3}
            maxLength={REASON_MAX}
            value={reason}
            error={wrong}
            onChange={(event) => setReason(event.currentTarget.value)}
            data-autofocus
          />
          <div className={classes.buttons}>
            <TextButton size="xs" type="submit" loading={change.sending} label={confirm} />
            <TextButton size="xs" variant="default" onClick={close} label={t('cancel')} />
          </div>
        </Form>
      )}
    </ButtonPopover>
  );
}
