'use client';

import { useState, type FormEvent } from 'react';
import { Button, Popover, Textarea } from '@mantine/core';
import { IconLock, IconLockOpen } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { REASON_MAX, REASON_MIN } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';
import type { ProofStatus } from '@/lib/shared/proofs';
import classes from './proof.module.css';

export type TurnAction = (input: { outbox: string; request: { on: boolean; reason: string } }) => Promise<ActionResult<ProofStatus>>;

interface SwitchFormProps {
  outbox: { id: string; name: string };
  turnOn: boolean;
  action: TurnAction;
  onTurned: (status: ProofStatus) => void;
}

/** Turns changes on or off, with why. */
export function SwitchForm({ outbox, turnOn, action, onTurned }: SwitchFormProps) {
  const t = useTranslations('proof');
  const problems = useTranslations('problems');
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const [sending, setSending] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const text = reason.trim();
    if (text.length < REASON_MIN) {
      setWrong(t('reasonError', { min: String(REASON_MIN), max: String(REASON_MAX) }));
      return;
    }
    setSending(true);
    const answer = await action({ outbox: outbox.id, request: { on: turnOn, reason: text } }).catch(() => null);
    setSending(false);
    if (answer?.ok !== true) {
      setWrong(problems(answer?.problem.code ?? 'unavailable'));
      return;
    }
    setOpen(false);
    setReason('');
    setWrong(null);
    onTurned(answer.value);
  };
  const Icon = turnOn ? IconLockOpen : IconLock;
  return (
    <Popover
      opened={open}
      onChange={setOpen}
      position="bottom-start"
      width={340}
      trapFocus
      returnFocus
      shadow="md"
      transitionProps={{ duration: 80 }}
    >
      <Popover.Target>
        <Button
          variant={turnOn ? 'filled' : 'default'}
          leftSection={<Icon size={16} aria-hidden />}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {t(turnOn ? 'turnOn' : 'turnOff')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t(turnOn ? 'turnOnTitle' : 'turnOffTitle', { outbox: outbox.name })}>
        <form className={classes.form} onSubmit={(event) => void send(event)}>
          <strong>{t(turnOn ? 'turnOnTitle' : 'turnOffTitle', { outbox: outbox.name })}</strong>
          <p>{t(turnOn ? 'turnOnText' : 'turnOffText')}</p>
          <Textarea
            size="xs"
            label={t('reason')}
            description={t('reasonHint')}
            required
            withAsterisk={false}
            rows={2}
            maxLength={REASON_MAX}
            value={reason}
            error={wrong}
            onChange={(event) => setReason(event.currentTarget.value)}
            data-autofocus
          />
          <div className={classes.buttons}>
            <Button size="xs" type="submit" loading={sending}>
              {t(turnOn ? 'turnOn' : 'turnOff')}
            </Button>
            <Button size="xs" variant="default" onClick={() => setOpen(false)}>
              {t('cancel')}
            </Button>
          </div>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
