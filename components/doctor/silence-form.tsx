'use client';

import { useState, type FormEvent } from 'react';
import { Button, Popover, Textarea } from '@mantine/core';
import { IconBellOff } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { Silence } from '@/lib/shared/doctor';
import { REASON_MAX, REASON_MIN } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';
import classes from './doctor.module.css';

export interface SilenceActions {
  put: (input: { outbox: string; finding: string; reason: string }) => Promise<ActionResult<Silence>>;
  lift: (input: { outbox: string; finding: string }) => Promise<ActionResult<Silence>>;
}

interface SilenceFormProps {
  outbox: string;
  finding: string;
  put: SilenceActions['put'];
  /** Reads the screen again. */
  onDone: () => Promise<void>;
}

/** Silences a finding, with why. */
export function SilenceForm({ outbox, finding, put, onDone }: SilenceFormProps) {
  const words = useTranslations('doctor.silence');
  const problems = useTranslations('problems');
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const [sending, setSending] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const text = reason.trim();
    if (text.length < REASON_MIN) {
      setWrong(words('error', { min: String(REASON_MIN), max: String(REASON_MAX) }));
      return;
    }
    setSending(true);
    const problem = await put({ outbox, finding, reason: text }).then(
      (result) => (result.ok ? null : result.problem.code),
      () => 'unavailable' as const,
    );
    setSending(false);
    setWrong(problem === null ? null : problems(problem));
    if (problem !== null) return;
    setOpen(false);
    await onDone();
  };
  return (
    <Popover
      opened={open}
      onChange={setOpen}
      position="bottom-start"
      width={320}
      trapFocus
      returnFocus
      shadow="md"
      transitionProps={{ duration: 80 }}
    >
      <Popover.Target>
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconBellOff size={14} aria-hidden />}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {words('button')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={words('title')}>
        <form className={classes.silenceForm} onSubmit={(event) => void send(event)}>
          <Textarea
            size="xs"
            label={words('reason')}
            description={words('reasonHint')}
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
            <Button size="xs" type="submit" loading={sending}>
              {words('confirm')}
            </Button>
            <Button size="xs" variant="default" onClick={() => setOpen(false)}>
              {words('cancel')}
            </Button>
          </div>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
