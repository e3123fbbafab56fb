import { Textarea, UnstyledButton } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { REASON_MAX, REASON_MIN } from '@/lib/shared/model';
import classes from './reason-field.module.css';
import { storedList, storeList } from './sent';

const STORAGE_KEY = 'outbox-console.reasons';
const KEPT = 5;

/** The last reasons given in this browser, newest first. */
const recentReasons = (): string[] =>
  storedList(STORAGE_KEY)
    .filter((reason) => typeof reason === 'string')
    .slice(0, KEPT);

/** The text of a reason as it is typed, and what to send once it is long enough. */
export function useReason() {
  const [text, setText] = useState('');
  const [touched, setTouched] = useState(false);
  const written = text.trim();
  const reason = written.length >= REASON_MIN && written.length <= REASON_MAX ? written : null;
  return {
    /** null while it is too short or too long. */
    reason,
    field: { value: text, onChange: setText, invalid: touched && reason === null },
    /** Call when it is sent: asks for what is missing, and remembers what is there. */
    touch: () => {
      setTouched(true);
      if (reason !== null) storeList(STORAGE_KEY, [reason, ...recentReasons().filter((other) => other !== reason)].slice(0, KEPT));
    },
  };
}

interface ReasonFieldProps {
  value: string;
  onChange: (value: string) => void;
  invalid: boolean;
  /** Left out where it answers more than one question: then Enter breaks the line. */
  onSubmit?: () => void;
  label?: string;
  /** It takes the focus when it appears. */
  first?: boolean;
}

/** The operator's reason, which goes into the record. The last reasons of this browser are offered. */
export function ReasonField({ value, onChange, invalid, onSubmit, label, first = true }: ReasonFieldProps) {
  const t = useTranslations('interventions');
  // Beside a page the server knows none: they come with the focus.
  const [recent, setRecent] = useState(() => (first ? recentReasons() : []));
  return (
    <div>
      <Textarea
        label={label ?? t('reason')}
        description={t('reasonHint')}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        onFocus={() => setRecent(recentReasons())}
        onKeyDown={(event) => {
          // A reason is one sentence: Enter confirms, shift-Enter breaks the line.
          if (onSubmit === undefined || event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          onSubmit();
        }}
        error={invalid ? t('reasonError', { min: REASON_MIN }) : undefined}
        maxLength={REASON_MAX}
        rows={2}
        required
        withAsterisk={false}
        data-autofocus={first || undefined}
        autoFocus={first}
      />
      {recent.length > 0 && (
        <div className={classes.recent}>
          <span>{t('recentReasons')}</span>
          {recent.map((reason) => (
            <UnstyledButton key={reason} className={classes.chip} onClick={() => onChange(reason)}>
              <bdi>{reason}</bdi>
            </UnstyledButton>
          ))}
        </div>
      )}
    </div>
  );
}
