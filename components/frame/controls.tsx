import { IconSelector } from '@tabler/icons-react';
import { type ComponentProps, type ReactNode, useId } from 'react';
import classes from './controls.module.css';

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
