import { type ReactNode, useState, type FormEvent } from 'react';
import { Button, Popover, type ButtonProps, Textarea } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { REASON_MAX, REASON_MIN } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import classes from './reason-popover.module.css';

interface ButtonPopoverProps {
  /** On the button that opens it. */
  label: string;
  icon?: ReactNode;
  size: ButtonProps['size'];
  variant?: 'filled' | 'default' | 'subtle';
  /** What is in it, for those who hear the screen; by default the button's words. */
  title?: string;
  open: boolean;
  onOpen: (open: boolean) => void;
  /** Called in place of `onOpen` when the button is pressed. */
  onToggle?: () => void;
  position?: 'bottom-start' | 'bottom-end';
  width: number;
  className?: string;
  children: ReactNode;
}

/** A button, and what it opens beside itself: the focus goes in, stays, and comes back. */
export function ButtonPopover({
  label,
  icon,
  size,
  variant = 'default',
  title = label,
  open,
  onOpen,
  onToggle,
  ...props
}: ButtonPopoverProps) {
  const { position = 'bottom-start', width, className, children } = props;
  return (
    <Popover
      opened={open}
      onChange={onOpen}
      position={position}
      width={width}
      trapFocus
      returnFocus
      shadow="md"
      transitionProps={{ duration: 80 }}
    >
      <Popover.Target>
        <Button size={size} variant={variant} leftSection={icon} aria-expanded={open} onClick={onToggle ?? (() => onOpen(!open))}>
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={title} className={className}>
        {children}
      </Popover.Dropdown>
    </Popover>
  );
}

interface ReasonPopoverProps<T> {
  /** On the button that opens it. */
  label: string;
  icon: ReactNode;
  size?: ButtonProps['size'];
  variant?: 'filled' | 'default';
  /** What is about to happen. */
  title: string;
  /** And what follows from it. */
  text?: string;
  reasonLabel: string;
  reasonHint: string;
  confirm: string;
  /** Words of its own for a problem; null for the usual ones. */
  say?: (problem: ProblemInfo) => string | null;
  send: (reason: string) => Promise<ActionResult<T>>;
  onDone: (answer: T) => void | Promise<void>;
}

/** A change that wants a reason and nothing else, behind a button. */
export function ReasonPopover<T>({ label, icon, size = 'sm', variant = 'default', title, text, ...props }: ReasonPopoverProps<T>) {
  const { reasonLabel, reasonHint, confirm, say, send, onDone } = props;
  const t = useTranslations('interventions');
  const problems = useTranslations('problems');
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const [sending, setSending] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const written = reason.trim();
    if (written.length < REASON_MIN) {
      setWrong(t('reasonError', { min: REASON_MIN, max: REASON_MAX }));
      return;
    }
    setSending(true);
    const answer = await send(written).catch(() => null);
    setSending(false);
    if (answer?.ok !== true) {
      setWrong((answer && say?.(answer.problem)) ?? problems(answer?.problem.code ?? 'unavailable'));
      return;
    }
    setOpen(false);
    setReason('');
    setWrong(null);
    await onDone(answer.value);
  };
  return (
    <ButtonPopover label={label} icon={icon} size={size} variant={variant} title={title} open={open} onOpen={setOpen} width={340}>
      {/* The words for what is missing are ours, in the reader's language. */}
      <form className={classes.form} noValidate onSubmit={(event) => void submit(event)}>
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
          <Button size="xs" type="submit" loading={sending}>
            {confirm}
          </Button>
          <Button size="xs" variant="default" onClick={() => setOpen(false)}>
            {t('cancel')}
          </Button>
        </div>
      </form>
    </ButtonPopover>
  );
}
