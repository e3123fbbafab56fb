import type { ReactNode } from 'react';
import { Button, Popover, type ButtonProps } from '@mantine/core';

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
