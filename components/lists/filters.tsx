import { CloseButton, UnstyledButton } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useState, type ReactNode } from 'react';
import { shortIso } from '@/lib/shared/figures/chart-view';
import { FILTER_TEXT_MAX } from '@/lib/shared/lists/event-filter';
import type { EventFilter } from '@/lib/shared/model';
import { instantToWall, wallToInstant } from '@/lib/shared/text/zoned-time';
import { useFormat } from '../figures/format';
import { Float, useFloat } from '../frame/float';
import { Checkbox, Form, TextButton, TextField } from '../frame/controls';
import classes from './filters.module.css';

export interface Chip<F> {
  label: string;
  /** Its value in words; null if it is not set. */
  value: string | null;
  /** What is wrong with its value in the URL. */
  error?: string;
  without: Partial<F>;
  /** The form that sets it; `apply` closes the chip. */
  editor: (apply: (part: Partial<F>) => void) => ReactNode;
}

interface FiltersProps<F> {
  label: string;
  chips: readonly Chip<F>[];
  onChange: (part: Partial<F>) => void;
  onClear: (() => void) | null;
  before?: ReactNode;
  after?: ReactNode;
}

export function Filters<F>({ label, chips, onChange, onClear, before, after }: FiltersProps<F>) {
  const t = useTranslations('events.filter');
  return (
    <div className={classes.bar} role="search" aria-label={label}>
      {before}
      {chips.map((chip) => (
        <FilterChip key={chip.label} chip={chip} onChange={onChange} />
      ))}
      {onClear !== null && <TextButton variant="subtle" size="compact-sm" onClick={onClear} label={t('clearAll')} />}
      {after}
    </div>
  );
}

function FilterChip<F>({ chip, onChange }: { chip: Chip<F>; onChange: (part: Partial<F>) => void }) {
  const { label, value, error, without, editor } = chip;
  const t = useTranslations('events.filter');
  const { button, float, close } = useFloat();
  const apply = (part: Partial<F>) => {
    close();
    onChange(part);
  };
  return (
    <>
      <span className={classes.chip} data-set={value !== null || undefined} data-wrong={error !== undefined || undefined}>
        <UnstyledButton className={classes.chipButton} {...button}>
          {value === null ? label : t('chip', { label, value })}
          {value === null && <IconChevronDown size={14} aria-hidden />}
        </UnstyledButton>
        {(value !== null || error !== undefined) && (
          <CloseButton size="xs" className={classes.chipClear} aria-label={t('clear', { label })} onClick={() => onChange(without)} />
        )}
      </span>
      {float && (
        <Float {...float} label={label} width={272} className={classes.editor}>
          {editor(apply)}
        </Float>
      )}
    </>
  );
}

function EditorForm({ onApply, children }: { onApply: () => void; children: ReactNode }) {
  const t = useTranslations('events.filter');
  return (
    <Form className={classes.form} onSubmit={onApply}>
      {children}
      <TextButton type="submit" size="compact-sm" label={t('apply')} />
    </Form>
  );
}

interface ManyEditorProps<T extends string> {
  chosen: readonly T[] | undefined;
  /** `unavailable`: why it cannot be chosen. */
  options: readonly { value: T; label: ReactNode; unavailable?: string }[];
  /** Label of a box that narrows the options, and accepts a value that is not among them. */
  typed?: string;
  onApply: (chosen: T[] | undefined) => void;
}

export function ManyEditor<T extends string>({ chosen = [], options, typed, onApply }: ManyEditorProps<T>) {
  const [picked, setPicked] = useState<readonly T[]>(chosen);
  const [text, setText] = useState('');
  const wanted = text.trim() as T;
  const shown = options.filter(({ value }) => value.toLowerCase().includes(wanted.toLowerCase()));
  const apply = () => {
    const more = wanted === '' || picked.includes(wanted) ? [] : [shown.length === 1 ? (shown[0]?.value ?? wanted) : wanted];
    const all = [...picked, ...more];
    onApply(all.length === 0 ? undefined : all);
  };
  const boxes = shown.map(({ value, label, unavailable }) => (
    <Checkbox
      key={value}
      checked={picked.includes(value)}
      disabled={unavailable !== undefined}
      onChange={() => setPicked((before) => (before.includes(value) ? before.filter((other) => other !== value) : [...before, value]))}
      label={label}
      description={unavailable}
    />
  ));
  return (
    <EditorForm onApply={apply}>
      {typed === undefined ? (
        boxes
      ) : (
        <>
          <FilterText label={typed} value={text} onChange={setText} />
          <div className={classes.suggestions}>{boxes}</div>
        </>
      )}
    </EditorForm>
  );
}

function FilterText({ onChange, ...props }: { label: string; description?: string; value: string; onChange: (text: string) => void }) {
  return <TextField {...props} onChange={(event) => onChange(event.currentTarget.value)} maxLength={FILTER_TEXT_MAX} data-autofocus />;
}

interface TextChip {
  label: string;
  hint: string;
  error?: string;
  value: string | undefined;
}

/** A text field; an empty text clears it. */
export function textChip<K extends string>(field: K, { hint, ...chip }: TextChip, tidy = (text: string) => text): Chip<Record<K, string>> {
  const part = (text?: string) => ({ [field]: text && tidy(text) }) as Partial<Record<K, string>>;
  return {
    ...chip,
    value: chip.value ?? null,
    without: part(),
    editor: (apply) => <TextEditor {...chip} hint={hint} onApply={(text) => apply(part(text))} />,
  };
}

function TextEditor({ label, hint, value = '', onApply }: TextChip & { onApply: (text?: string) => void }) {
  const [text, setText] = useState(value);
  return (
    <EditorForm onApply={() => onApply(text.trim() === '' ? undefined : text)}>
      <FilterText label={label} description={hint} value={text} onChange={setText} />
    </EditorForm>
  );
}

const SPANS = { '15m': 900, '1h': 3_600, '24h': 86_400, '7d': 604_800 } as const;

type Span = Pick<EventFilter, 'from' | 'to'>;

function TimeEditor({ span, onApply }: { span: Span; onApply: (span: Span) => void }) {
  const t = useTranslations('events.filter');
  const { timeZone } = useFormat();
  const wallOf = (at: string | undefined) => (at === undefined ? '' : instantToWall(at, timeZone));
  const [walls, setWalls] = useState({ from: wallOf(span.from), to: wallOf(span.to) });
  // An unchanged end keeps the digits below a second from its link.
  const instant = (end: keyof Span) => (walls[end] === wallOf(span[end]) ? span[end] : (wallToInstant(walls[end], timeZone) ?? undefined));
  return (
    <EditorForm onApply={() => onApply({ from: instant('from'), to: instant('to') })}>
      <div className={classes.spans}>
        {(Object.keys(SPANS) as (keyof typeof SPANS)[]).map((name) => (
          <UnstyledButton key={name} className={classes.span} onClick={() => onApply({ from: secondsAgo(SPANS[name]), to: undefined })}>
            {t(`spans.${name}`)}
          </UnstyledButton>
        ))}
      </div>
      {(['from', 'to'] as const).map((end) => (
        <TextField
          key={end}
          type="datetime-local"
          step={1}
          label={t(end)}
          value={walls[end]}
          onChange={(event) => setWalls({ ...walls, [end]: event.currentTarget.value })}
          data-autofocus={end === 'from' || undefined}
        />
      ))}
      <p className={classes.zone}>{timeZone}</p>
    </EditorForm>
  );
}

export function useTimeChip(label: string, span: Span, error?: string): Chip<Span> {
  const t = useTranslations('events.filter');
  const { absolute } = useFormat();
  const [from, to] = [span.from && absolute(span.from), span.to && absolute(span.to)];
  const value = from && to ? t('between', { from, to }) : from ? t('since', { from }) : to ? t('until', { to }) : null;
  const editor: Chip<Span>['editor'] = (apply) => <TimeEditor span={span} onApply={apply} />;
  return { label, value, error, without: { from: undefined, to: undefined }, editor };
}

/** The time so many seconds ago, to the full second. */
export const secondsAgo = (seconds: number): string => shortIso((Math.floor(Date.now() / 1_000) - seconds) * 1_000);
