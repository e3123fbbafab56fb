import { Button, type ButtonProps, CopyButton, Popover, Textarea } from '@mantine/core';
import { useUncontrolled } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { REASON_MAX, REASON_MIN } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import classes from './reason-popover.module.css';
import { useChange } from './use-change';

/** What pops up takes the focus, keeps it, and gives it back. */
export const POPOVER = { trapFocus: true, returnFocus: true, shadow: 'md', transitionProps: { duration: 80 } } as const;

interface ButtonPopoverProps extends Pick<ButtonProps, 'size' | 'variant' | 'leftSection'> {
  label: string;
  /** What is in it, for those who hear the screen; by default the button's words. */
  title?: string;
  /** Where what opens it lies outside too. */
  open?: boolean;
  onOpen?: (open: boolean) => void;
  position?: 'bottom-start' | 'bottom-end';
  width: number;
  className?: string;
  /** Made anew with each opening. */
  children: (close: () => void) => ReactNode;
}

/** A button, and what it opens beside itself. */
export function ButtonPopover({ label, title = label, open, onOpen, className, children, ...props }: ButtonPopoverProps) {
  const { position = 'bottom-start', width, variant = 'default', ...button } = props;
  const [opened, setOpened] = useUncontrolled({ value: open, defaultValue: false, onChange: onOpen });
  return (
    <Popover opened={opened} onChange={setOpened} position={position} width={width} {...POPOVER}>
      <Popover.Target>
        <Button variant={variant} {...button} aria-expanded={opened} onClick={() => setOpened(!opened)}>
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={title} className={className}>
        {children(() => setOpened(false))}
      </Popover.Dropdown>
    </Popover>
  );
}

/** A form that does its own sending: the page stays. */
export function Form({ onSubmit, ...props }: Omit<ComponentProps<'form'>, 'onSubmit'> & { onSubmit: () => void }) {
  return (
    <form
      {...props}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    />
  );
}

interface CopyTextProps {
  text: string;
  label: string;
  size?: ButtonProps['size'];
  variant?: 'filled' | 'default';
  disabled?: boolean;
}

export function CopyText({ text, label, size = 'compact-xs', variant = 'default', disabled }: CopyTextProps) {
  const words = useTranslations('frame');
  return (
    <CopyButton value={text} timeout={1_500}>
      {({ copied, copy }) => (
        <Button
          size={size}
          variant={variant}
          disabled={disabled}
          leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
          onClick={copy}
        >
          {copied ? words('copied') : label}
        </Button>
      )}
    </CopyButton>
  );
}

interface ReasonPopoverProps<T> extends Pick<ButtonProps, 'size' | 'variant' | 'leftSection'> {
  label: string;
  /** What is about to happen, and what follows from it. */
  title: string;
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
export function ReasonPopover<T>({ title, text, reasonLabel, reasonHint, confirm, say, send, onDone, ...button }: ReasonPopoverProps<T>) {
  const t = useTranslations('interventions');
  const problems = useTranslations('problems');
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const [short, setShort] = useState(false);
  const change = useChange(send, {
    onDone: async (value) => {
      setOpen(false);
      setReason('');
      if (value !== null) await onDone(value);
    },
  });
  const submit = () => {
    const written = reason.trim();
    setShort(written.length < REASON_MIN);
    if (written.length >= REASON_MIN) change.send(written);
  };
  const { problem } = change;
  const wrong = short
    ? t('reasonError', { min: REASON_MIN, max: REASON_MAX })
    : problem !== null && (say?.(problem) ?? problems(problem.code));
  return (
    <ButtonPopover size="sm" {...button} title={title} open={open} onOpen={setOpen} width={340}>
      {(close) => (
        // The words for what is missing are ours, in the reader's language.
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
            error={wrong || null}
            onChange={(event) => setReason(event.currentTarget.value)}
            data-autofocus
          />
          <div className={classes.buttons}>
            <Button size="xs" type="submit" loading={change.sending}>
              {confirm}
            </Button>
            <Button size="xs" variant="default" onClick={close}>
              {t('cancel')}
            </Button>
          </div>
        </Form>
      )}
    </ButtonPopover>
  );
}
