import { Textarea, UnstyledButton } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { REASON_MAX, REASON_MIN } from '@/lib/shared/model';
import classes from './intervention-dialog.module.css';

const STORAGE_KEY = 'outbox-console.reasons';
const KEPT = 5;

/** The reasons this person gave last, newest first. Empty where the browser keeps nothing. */
function recentReasons(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((reason) => typeof reason === 'string').slice(0, KEPT) : [];
  } catch {
    return [];
  }
}

export function rememberReason(reason: string): void {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify([reason, ...recentReasons().filter((other) => other !== reason)].slice(0, KEPT)));
  } catch {
    // Private windows may refuse storage; the offer is a comfort only.
  }
}

/** The reason as it is sent, or null while it is too short or too long. */
export function acceptedReason(text: string): string | null {
  const reason = text.trim();
  return reason.length >= REASON_MIN && reason.length <= REASON_MAX ? reason : null;
}

interface ReasonFieldProps {
  value: string;
  onChange: (value: string) => void;
  invalid: boolean;
  onSubmit: () => void;
}

/** Why, in the operator's words; it goes into the record. The last reasons of this browser are offered. */
export function ReasonField({ value, onChange, invalid, onSubmit }: ReasonFieldProps) {
  const t = useTranslations('interventions');
  const [recent] = useState(recentReasons);
  return (
    <div>
      <Textarea
        label={t('reason')}
        description={t('reasonHint')}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          // A reason is one sentence: Enter confirms, shift-Enter breaks the line.
          if (event.shiftKey) return;
          event.preventDefault();
          onSubmit();
        }}
        error={invalid ? t('reasonError', { min: REASON_MIN, max: REASON_MAX }) : undefined}
        maxLength={REASON_MAX}
        rows={2}
        required
        withAsterisk={false}
        data-autofocus
        autoFocus
      />
      {recent.length > 0 && (
        <div className={classes.recent}>
          <span>{t('recentReasons')}</span>
          {recent.map((reason) => (
            <UnstyledButton key={reason} className={classes.recentReason} onClick={() => onChange(reason)}>
              <bdi>{reason}</bdi>
            </UnstyledButton>
          ))}
        </div>
      )}
    </div>
  );
}
