import { Anchor, type AnchorProps, Button, type ButtonProps, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy, IconSelector, type TablerIcon } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { type ComponentProps, type ReactNode, useId } from 'react';
import classes from './controls.module.css';
import { Float, useFloat } from './float';
import { Link } from './go';

interface CheckboxProps extends Omit<ComponentProps<'input'>, 'type' | 'ref'> {
  label?: ReactNode;
  /** More about it, below its label. */
  description?: string;
  indeterminate?: boolean;
}

export function Checkbox({ label, description, indeterminate = false, ...props }: CheckboxProps) {
  const id = useId();
  const box = (
    <input
      type="checkbox"
      className={classes.box}
      aria-describedby={description === undefined ? undefined : id}
      ref={(input) => {
        if (input) input.indeterminate = indeterminate;
      }}
      {...props}
    />
  );
  if (label === undefined) return box;
  return (
    <div className={classes.option} data-disabled={props.disabled}>
      <label>
        {box}
        {label}
      </label>
      {description !== undefined && <p id={id}>{description}</p>}
    </div>
  );
}

interface ChoiceBarProps<T extends string> {
  'aria-label': string;
  'aria-busy'?: boolean;
  data: readonly { value: T; label: string }[];
  value: T;
  onChange: (value: T) => void;
  fullWidth?: boolean;
}

export function ChoiceBar<T extends string>({ data, value, onChange, fullWidth, ...props }: ChoiceBarProps<T>) {
  const name = useId();
  return (
    <div role="radiogroup" className={classes.choices} data-full={fullWidth} {...props}>
      {data.map((one) => (
        <label key={one.value}>
          <input type="radio" name={name} checked={one.value === value} onChange={() => onChange(one.value)} />
          {one.label}
        </label>
      ))}
    </div>
  );
}

interface SelectProps extends ComponentProps<'select'> {
  data: readonly { value: string; label: string }[];
}

export function Select({ data, className = '', ...props }: SelectProps) {
  return (
    <div className={`${classes.select} ${className}`}>
      <select className={classes.input} {...props}>
        {data.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <IconSelector size={14} aria-hidden />
    </div>
  );
}

interface TextFieldProps extends Omit<ComponentProps<'input'>, 'size'> {
  label?: string;
  description?: string;
  error?: ReactNode;
  icon?: ReactNode;
}

export function TextField({ label, description, error, icon, className = '', ...props }: TextFieldProps) {
  const id = useId();
  const said = [description !== undefined && `${id}-for`, error && `${id}-wrong`].filter(Boolean).join(' ');
  return (
    <div className={`${classes.field} ${className}`} data-icon={icon !== undefined}>
      {label !== undefined && (
        <label htmlFor={id}>
          {label} {props.required && <span aria-hidden>*</span>}
        </label>
      )}
      {description !== undefined && <p id={`${id}-for`}>{description}</p>}
      <div className={classes.line}>
        {icon}
        <input id={id} className={classes.input} aria-invalid={Boolean(error)} aria-describedby={said || undefined} {...props} />
      </div>
      {error && (
        <p id={`${id}-wrong`} className={classes.wrong}>
          {error}
        </p>
      )}
    </div>
  );
}

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
