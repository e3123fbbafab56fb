import { Anchor, type AnchorProps, Button, type ButtonProps, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy, type TablerIcon } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { ComponentProps, ReactNode } from 'react';
import { Float, useFloat } from './float';
import { Link } from './go';

interface TextButtonProps extends ButtonProps, Pick<ComponentProps<'button'>, 'type' | 'title' | 'autoFocus' | 'aria-label'> {
  label: string;
  icon?: TablerIcon;
  /** The page that it opens. */
  href?: string;
  target?: string;
  onClick?: () => void;
}

/** A button with a text, or a link to a page of the console that looks like one. */
export function TextButton({ label, icon: Icon, href, target, type, ...props }: TextButtonProps) {
  const look = { leftSection: Icon && <Icon size={props.size === undefined ? 16 : 14} aria-hidden />, ...props, children: label };
  return href === undefined ? <Button type={type} {...look} /> : <Button component={Link} href={href} target={target} {...look} />;
}

/** A link to a page of the console, within a text. */
export function TextLink({ label, ...props }: AnchorProps & { label: ReactNode; href: string; prefetch?: false }) {
  return (
    <Anchor component={Link} {...props}>
      {label}
    </Anchor>
  );
}

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

interface CopyTextProps extends Pick<ButtonProps, 'size' | 'variant' | 'disabled'> {
  text: string;
  label: string;
}

export function CopyText({ text, label, ...props }: CopyTextProps) {
  const words = useTranslations('frame');
  const look = { size: 'compact-xs', variant: 'default', ...props };
  return (
    <CopyButton value={text} timeout={1_500}>
      {({ copied, copy }) => (
        <TextButton {...look} {...(copied ? { icon: IconCheck, label: words('copied') } : { icon: IconCopy, label })} onClick={copy} />
      )}
    </CopyButton>
  );
}
