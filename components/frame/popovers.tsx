import { Button, type ButtonProps, CopyButton, Popover } from '@mantine/core';
import { useUncontrolled } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { ComponentProps, ReactNode } from 'react';

/** A popover takes the focus, keeps it, and gives it back. */
export const POPOVER = { trapFocus: true, returnFocus: true, shadow: 'md', transitionProps: { duration: 80 } } as const;

interface ButtonPopoverProps extends Pick<ButtonProps, 'size' | 'variant' | 'leftSection'> {
  label: string;
  /** The popover's label for screen readers; by default the button's text. */
  title?: string;
  /** Set if something else opens it too. */
  open?: boolean;
  onOpen?: (open: boolean) => void;
  position?: 'bottom-start' | 'bottom-end';
  width: number;
  className?: string;
  /** Rendered anew with each opening. */
  children: (close: () => void) => ReactNode;
}

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
