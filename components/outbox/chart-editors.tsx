import { type FormEvent, type ReactNode, useState } from 'react';
import { Button, TextInput, SegmentedControl } from '@mantine/core';
import { IconCalendarTime, IconFlag } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { shortIso } from '@/lib/shared/figures/chart-view';
import { spanProblem } from '@/lib/shared/figures/windows';
import { instantToWall, wallToInstant } from '@/lib/shared/text/zoned-time';
import { MARK_KINDS, MARK_TEXT_MAX, type Mark } from '@/lib/shared/figures/marks';
import type { ActionResult } from '@/lib/shared/problems';
import { ButtonPopover } from '../frame/button-popover';
import type { TimeSpan } from '../charts/chart-model';
import { useFormat } from '../figures/use-format';
import { useChange } from '../frame/use-change';
import classes from './charts.module.css';

interface PopoverFormProps {
  /** What it does, on the button that opens it. */
  label: string;
  icon: ReactNode;
  open: boolean;
  onOpen: (open: boolean) => void;
  /** Called before it opens and before it closes by its button. */
  onToggle: () => void;
  onSubmit: () => void;
  children: ReactNode;
}

/** A small form above the charts, behind a button. */
function PopoverForm({ label, icon, open, onOpen, onToggle, onSubmit, children }: PopoverFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <ButtonPopover
      label={label}
      icon={icon}
      size="compact-sm"
      open={open}
      onOpen={onOpen}
      onToggle={onToggle}
      position="bottom-end"
      width={288}
    >
      <form className={classes.times} onSubmit={submit}>
        {children}
      </form>
    </ButtonPopover>
  );
}

interface SpanEditorProps {
  /** What is shown now. */
  span: TimeSpan;
  onApply: (span: { from: string; to: string }) => void;
}

/** A span by its two times, for those who do not drag; on the clock of the reader's zone. */
export function SpanEditor({ span, onApply }: SpanEditorProps) {
  const words = useTranslations('outbox.charts');
  const { timeZone } = useFormat();
  const [open, setOpen] = useState(false);
  const wall = (at: number) => instantToWall(at, timeZone).slice(0, 16);
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const toggle = () => {
    setFrom(wall(span.from));
    setTo(wall(span.to));
    setWrong(null);
    setOpen((before) => !before);
  };
  const apply = () => {
    const [start, end] = [wallToInstant(from, timeZone) ?? '', wallToInstant(to, timeZone) ?? ''];
    const problem = spanProblem(start, end);
    setWrong(problem === null ? null : words(`spanProblems.${problem}`));
    if (problem !== null) return;
    setOpen(false);
    onApply({ from: shortIso(Date.parse(start)), to: shortIso(Date.parse(end)) });
  };
  return (
    <PopoverForm
      label={words('choose')}
      icon={<IconCalendarTime size={14} aria-hidden />}
      open={open}
      onOpen={setOpen}
      onToggle={toggle}
      onSubmit={apply}
    >
      <TextInput
        size="xs"
        type="datetime-local"
        label={words('from')}
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        size="xs"
        type="datetime-local"
        label={words('to')}
        value={to}
        error={wrong}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <p>{timeZone}</p>
      <Button size="xs" type="submit">
        {words('show')}
      </Button>
    </PopoverForm>
  );
}

export type MarkAction = (input: {
  mark: { kind: Mark['kind']; text: string; outbox: string; at?: string };
  key: string;
}) => Promise<ActionResult<Mark>>;

interface MarkEditorProps {
  outbox: string;
  action: MarkAction;
  /** Reads the screen again, so that the mark is there. */
  onMarked: () => Promise<void>;
}

/** Puts a mark on the charts of this outbox, now or at a time that has passed. */
export function MarkEditor({ outbox, action, onMarked }: MarkEditorProps) {
  const words = useTranslations('outbox.charts');
  const problems = useTranslations('problems');
  const { timeZone } = useFormat();
  const [open, setOpen] = useState(false);
  const [kind, setKind] = useState<Mark['kind']>('deploy');
  const [text, setText] = useState('');
  const [at, setAt] = useState('');
  // The same mark sent twice is one mark; the next one has a key of its own.
  const [key, setKey] = useState('');
  const { send, sending, problem, reset } = useChange(action, {
    onDone: async () => {
      setOpen(false);
      await onMarked();
    },
  });
  const toggle = () => {
    setText('');
    setAt(instantToWall(Date.now(), timeZone).slice(0, 16));
    setKey(crypto.randomUUID());
    reset();
    setOpen((before) => !before);
  };
  return (
    <PopoverForm
      label={words('addMark')}
      icon={<IconFlag size={14} aria-hidden />}
      open={open}
      onOpen={setOpen}
      onToggle={toggle}
      onSubmit={() => send({ mark: { kind, text: text.trim(), outbox, at: wallToInstant(at, timeZone) ?? undefined }, key })}
    >
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={words('markKind')}
        data={MARK_KINDS.map((value) => ({ value, label: words(`marks.${value}`) }))}
        value={kind}
        onChange={setKind}
      />
      <TextInput
        size="xs"
        label={words('markText')}
        required
        maxLength={MARK_TEXT_MAX}
        value={text}
        error={problem && problems(problem.code)}
        onChange={(event) => setText(event.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        size="xs"
        type="datetime-local"
        label={words('markAt', { zone: timeZone })}
        required
        value={at}
        onChange={(event) => setAt(event.currentTarget.value)}
      />
      <Button size="xs" type="submit" loading={sending}>
        {words('addMark')}
      </Button>
    </PopoverForm>
  );
}
