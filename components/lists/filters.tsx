import { CloseButton, Popover, UnstyledButton, Button, Checkbox, TextInput } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useState, type ReactNode } from 'react';
import { FILTER_TEXT_MAX } from '@/lib/shared/lists/event-filter';
import type { Capabilities, EventFilter } from '@/lib/shared/model';
import { STATES, type State } from '@/lib/shared/states';
import { instantToWall, wallToInstant } from '@/lib/shared/text/zoned-time';
import { StateMark } from '../figures/mark';
import { useFormat } from '../figures/use-format';
import classes from './filters.module.css';

interface FilterChipProps {
  label: string;
  /** What it is set to, in words; null when it does not narrow. */
  value: string | null;
  /** What is wrong with what the URL says. */
  error?: string;
  onClear: () => void;
  /** The editor; it closes the chip itself once something was chosen. */
  children: (close: () => void) => ReactNode;
}

/** One field of the filter: its name, its value once set, an editor on click and a cross to take it away. */
export function FilterChip({ label, value, error, onClear, children }: FilterChipProps) {
  const t = useTranslations('events');
  const [open, setOpen] = useState(false);
  return (
    <Popover
      opened={open}
      onChange={setOpen}
      position="bottom-start"
      width={272}
      trapFocus
      returnFocus
      shadow="md"
      transitionProps={{ duration: 80 }}
    >
      <span className={classes.chip} data-set={value !== null || undefined} data-wrong={error !== undefined || undefined}>
        <Popover.Target>
          <UnstyledButton className={classes.chipButton} onClick={() => setOpen((before) => !before)} aria-expanded={open}>
            {value === null ? label : t('filter.chip', { label, value })}
            {value === null && <IconChevronDown size={14} aria-hidden />}
          </UnstyledButton>
        </Popover.Target>
        {(value !== null || error !== undefined) && (
          <CloseButton size="xs" className={classes.chipClear} aria-label={t('filter.clear', { label })} onClick={onClear} />
        )}
      </span>
      <Popover.Dropdown className={classes.editor} aria-label={label}>
        {children(() => setOpen(false))}
      </Popover.Dropdown>
    </Popover>
  );
}

function EditorForm({ onApply, children }: { onApply: () => void; children: ReactNode }) {
  const t = useTranslations('events.filter');
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        onApply();
      }}
    >
      {children}
      <Button type="submit" size="compact-sm">
        {t('apply')}
      </Button>
    </form>
  );
}

interface StateEditorProps {
  chosen: readonly State[];
  states: Capabilities['states'];
  onApply: (states: State[]) => void;
}

export function StateEditor({ chosen, states, onApply }: StateEditorProps) {
  const t = useTranslations();
  const [picked, setPicked] = useState(chosen);
  return (
    <EditorForm onApply={() => onApply([...picked])}>
      {STATES.map((state) => {
        const capability = states[state];
        return (
          <Checkbox
            key={state}
            size="xs"
            checked={picked.includes(state)}
            disabled={!capability.available}
            onChange={() =>
              setPicked((before) => (before.includes(state) ? before.filter((other) => other !== state) : [...before, state]))
            }
            label={<StateMark state={state} />}
            description={capability.available ? undefined : t(`unavailable.${capability.because}`)}
          />
        );
      })}
    </EditorForm>
  );
}

interface TypeEditorProps {
  chosen: readonly string[];
  /** Types seen lately in this outbox. */
  suggestions: readonly string[];
  onApply: (types: string[]) => void;
}

export function TypeEditor({ chosen, suggestions, onApply }: TypeEditorProps) {
  const t = useTranslations('events.filter');
  const [picked, setPicked] = useState(chosen);
  const [text, setText] = useState('');
  const known = [...new Set([...chosen, ...suggestions])].sort((a, b) => a.localeCompare(b, 'en'));
  const shown = known.filter((type) => type.toLowerCase().includes(text.trim().toLowerCase()));
  const apply = () => {
    const typed = text.trim();
    onApply(
      typed === '' || picked.includes(typed)
        ? [...picked]
        : [...picked, ...(shown.length === 1 && shown[0] !== undefined ? [shown[0]] : [typed])],
    );
  };
  return (
    <EditorForm onApply={apply}>
      <TextInput
        size="xs"
        label={t('typeName')}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        maxLength={FILTER_TEXT_MAX}
        data-autofocus
      />
      <div className={classes.suggestions}>
        {shown.map((type) => (
          <Checkbox
            key={type}
            size="xs"
            checked={picked.includes(type)}
            onChange={() => setPicked((before) => (before.includes(type) ? before.filter((other) => other !== type) : [...before, type]))}
            label={<bdi>{type}</bdi>}
          />
        ))}
      </div>
    </EditorForm>
  );
}

interface TextEditorProps {
  label: string;
  hint: string;
  value: string;
  onApply: (value: string) => void;
}

export function TextEditor({ label, hint, value, onApply }: TextEditorProps) {
  const [text, setText] = useState(value);
  return (
    <EditorForm onApply={() => onApply(text)}>
      <TextInput
        size="xs"
        label={label}
        description={hint}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        maxLength={FILTER_TEXT_MAX}
        data-autofocus
      />
    </EditorForm>
  );
}

const SPANS = [
  ['15m', 900],
  ['1h', 3_600],
  ['24h', 86_400],
  ['7d', 604_800],
] as const;

interface TimeEditorProps {
  filter: Pick<EventFilter, 'from' | 'to'>;
  onApply: (range: Pick<EventFilter, 'from' | 'to'>) => void;
}

/** Created from and to, on the clock of the reader's zone; the zone is named beside it. */
export function TimeEditor({ filter, onApply }: TimeEditorProps) {
  const t = useTranslations('events.filter');
  const { timeZone } = useFormat();
  const [from, setFrom] = useState(filter.from === undefined ? '' : instantToWall(filter.from, timeZone));
  const [to, setTo] = useState(filter.to === undefined ? '' : instantToWall(filter.to, timeZone));
  // An end that was not touched keeps the digits below a second that its link came with.
  const instant = (wall: string, before: string | undefined) =>
    before !== undefined && wall === instantToWall(before, timeZone) ? before : (wallToInstant(wall, timeZone) ?? undefined);
  return (
    <EditorForm onApply={() => onApply({ from: instant(from, filter.from), to: instant(to, filter.to) })}>
      <div className={classes.spans}>
        {SPANS.map(([span, seconds]) => (
          <UnstyledButton key={span} className={classes.span} onClick={() => onApply({ from: secondsAgo(seconds) })}>
            {t(`spans.${span}`)}
          </UnstyledButton>
        ))}
      </div>
      <TextInput
        size="xs"
        type="datetime-local"
        step={1}
        label={t('from')}
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        size="xs"
        type="datetime-local"
        step={1}
        label={t('to')}
        value={to}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <p className={classes.zone}>{timeZone}</p>
    </EditorForm>
  );
}

/** A span in words; null where there is none. */
export function useTimeText(): (span: Pick<EventFilter, 'from' | 'to'>) => string | null {
  const t = useTranslations('events.filter');
  const { absolute } = useFormat();
  return ({ from, to }) => {
    if (from !== undefined && to !== undefined) return t('between', { from: absolute(from), to: absolute(to) });
    if (from !== undefined) return t('since', { from: absolute(from) });
    return to === undefined ? null : t('until', { to: absolute(to) });
  };
}

/** An instant so many seconds back, to the full second. */
export function secondsAgo(seconds: number): string {
  return new Date((Math.floor(Date.now() / 1_000) - seconds) * 1_000).toISOString().replace('.000Z', 'Z');
}
