'use client';

import { useState } from 'react';
import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { IconFlag } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { MARK_KINDS, MARK_TEXT_MAX, type Mark } from '@/lib/shared/figures/marks';
import type { ActionResult } from '@/lib/shared/problems';
import { instantToWall, wallToInstant } from '@/lib/shared/text/zoned-time';
import { useFormat } from '../figures/use-format';
import { PopoverForm } from './popover-form';

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
  const [sending, setSending] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const toggle = () => {
    setText('');
    setAt(instantToWall(Date.now(), timeZone).slice(0, 16));
    setKey(crypto.randomUUID());
    setWrong(null);
    setOpen((before) => !before);
  };
  const send = async () => {
    setSending(true);
    const mark = { kind, text: text.trim(), outbox, at: wallToInstant(at, timeZone) ?? undefined };
    const problem = await action({ mark, key }).then(
      (result) => (result.ok ? null : result.problem.code),
      () => 'unavailable' as const,
    );
    setSending(false);
    setWrong(problem === null ? null : problems(problem));
    if (problem !== null) return;
    setOpen(false);
    await onMarked();
  };
  return (
    <PopoverForm
      label={words('addMark')}
      icon={<IconFlag size={14} aria-hidden />}
      open={open}
      onOpen={setOpen}
      onToggle={toggle}
      onSubmit={() => void send()}
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
        error={wrong}
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
