'use client';

import { IconBellOff } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { Silence } from '@/lib/shared/doctor';
import type { ActionResult } from '@/lib/shared/problems';
import { ReasonPopover } from '../frame/popovers';

export interface SilenceActions {
  put: (input: { outbox: string; finding: string; reason: string }) => Promise<ActionResult<Silence>>;
  lift: (input: { outbox: string; finding: string }) => Promise<ActionResult<Silence>>;
}

interface SilenceFormProps {
  outbox: string;
  finding: string;
  put: SilenceActions['put'];
  /** Reads the screen again. */
  onDone: () => Promise<void>;
}

/** Silences a finding, with why. */
export function SilenceForm({ outbox, finding, put, onDone }: SilenceFormProps) {
  const words = useTranslations('doctor.silence');
  return (
    <ReasonPopover
      label={words('button')}
      icon={<IconBellOff size={14} aria-hidden />}
      size="compact-xs"
      title={words('title')}
      reasonLabel={words('reason')}
      reasonHint={words('reasonHint')}
      confirm={words('confirm')}
      send={(reason) => put({ outbox, finding, reason })}
      onDone={onDone}
    />
  );
}
