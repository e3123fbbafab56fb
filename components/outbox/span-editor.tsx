'use client';

import { useState } from 'react';
import { Button, TextInput } from '@mantine/core';
import { IconCalendarTime } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { shortIso } from '@/lib/shared/figures/chart-view';
import { spanProblem } from '@/lib/shared/figures/windows';
import { instantToWall, wallToInstant } from '@/lib/shared/text/zoned-time';
import type { TimeSpan } from '../charts/chart-model';
import { useFormat } from '../figures/use-format';
import { PopoverForm } from './popover-form';

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
