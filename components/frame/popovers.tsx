import { Button, type ButtonProps, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { ComponentProps, ReactNode } from 'react';
import { Float, useFloat } from './float';

interface ButtonPopoverProps extends Pick<ButtonProps, 'size' | 'variant' | 'leftSection'> {
  label: string;
  /** The popover's label for screen readers; by default the button's text. */
  title?: string;
  /** What it is about, after its text: for who hears one of several such buttons. */
  of?: string;
  /** Set if something else opens it too. */
  open?: boolean;
  onOpen?: (open: boolean) => void;
  side?: 'start' | 'end';
  width: number;
  className?: string;
  /** Rendered anew with each opening. */
  children: (close: () => void) => ReactNode;
}

export function ButtonPopover({ label, title = label, of, open, onOpen, className, children, ...props }: ButtonPopoverProps) {
  const { side, width, variant = 'default', ...look } = props;
  const { button, float, close } = useFloat('dialog', { open, onOpen });
  return (
    <>
      <Button variant={variant} {...look} {...button} aria-label={of === undefined ? undefined : `${label}: ${of}`}>
        {label}
      </Button>
      {float && (
        <Float {...float} label={title} side={side} width={width} className={className}>
          {children(close)}
        </Float>
      )}
    </>
  );
}

/** A form that sends by itself: the page stays. */
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
