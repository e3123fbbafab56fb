'use client';

import { IconLock, IconLockOpen } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { ActionResult } from '@/lib/shared/problems';
import type { ProofStatus } from '@/lib/shared/changes/proofs';
import { ReasonPopover } from '../frame/reason-popover';

export type TurnAction = (input: { outbox: string; request: { on: boolean; reason: string } }) => Promise<ActionResult<ProofStatus>>;

interface SwitchFormProps {
  outbox: { id: string; name: string };
  turnOn: boolean;
  action: TurnAction;
  onTurned: (status: ProofStatus) => void;
}

/** Turns changes on or off, with why. */
export function SwitchForm({ outbox, turnOn, action, onTurned }: SwitchFormProps) {
  const t = useTranslations('proof');
  const Icon = turnOn ? IconLockOpen : IconLock;
  return (
    <ReasonPopover
      label={t(turnOn ? 'turnOn' : 'turnOff')}
      icon={<Icon size={16} aria-hidden />}
      variant={turnOn ? 'filled' : 'default'}
      title={t(turnOn ? 'turnOnTitle' : 'turnOffTitle', { outbox: outbox.name })}
      text={t(turnOn ? 'turnOnText' : 'turnOffText')}
      reasonLabel={t('reason')}
      reasonHint={t('reasonHint')}
      confirm={t(turnOn ? 'turnOn' : 'turnOff')}
      // Somebody was faster only in that the mapping or the table is another one now.
      say={({ code }) => (code === 'conflict' ? t('turnConflict') : null)}
      send={(reason) => action({ outbox: outbox.id, request: { on: turnOn, reason } })}
      onDone={onTurned}
    />
  );
}
