'use client';

import type { ComponentType } from 'react';
import { VisuallyHidden } from '@mantine/core';
import {
  IconAlertOctagon,
  IconAlertTriangle,
  IconArchive,
  IconCheck,
  IconCircleCheck,
  IconClock,
  IconEyeOff,
  IconHelpCircle,
  IconInfoCircle,
  IconRepeat,
  IconSettings,
  IconTrendingDown,
  IconX,
  type IconProps,
} from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { Severity } from '@/lib/shared/doctor';
import type { EventState } from '@/lib/shared/states';
import { VERDICT_TONE, type Tone, type Verdict } from '@/lib/shared/verdicts';
import classes from './figures.module.css';

type Hue = 'blue' | 'amber' | 'violet' | 'green' | 'red' | 'grey';

interface Sign {
  hue: Hue;
  icon: ComponentType<IconProps>;
  dashed?: boolean;
}

const STATE_SIGN: Record<EventState, Sign> = {
  pending: { hue: 'blue', icon: IconClock },
  retrying: { hue: 'amber', icon: IconRepeat },
  processing: { hue: 'violet', icon: IconSettings },
  published: { hue: 'green', icon: IconCheck },
  dead: { hue: 'red', icon: IconX },
  archived: { hue: 'grey', icon: IconArchive },
  unmapped: { hue: 'grey', icon: IconHelpCircle, dashed: true },
};

const TONE_SIGN: Record<Tone, Sign> = {
  healthy: { hue: 'green', icon: IconCircleCheck },
  watch: { hue: 'amber', icon: IconTrendingDown },
  act: { hue: 'red', icon: IconAlertOctagon },
  blind: { hue: 'grey', icon: IconEyeOff, dashed: true },
};

const SEVERITY_SIGN: Record<Severity, Sign> = {
  act: { hue: 'red', icon: IconAlertOctagon },
  watch: { hue: 'amber', icon: IconAlertTriangle },
  note: { hue: 'blue', icon: IconInfoCircle },
};

interface MarkProps {
  sign: Sign;
  word: string;
  /** Shows the sign alone; the word stays for those who hear the screen. */
  iconOnly?: boolean;
}

function Mark({ sign: { hue, icon: Icon, dashed }, word, iconOnly }: MarkProps) {
  return (
    <span className={classes.mark} data-hue={hue} data-dashed={dashed} data-icon-only={iconOnly} title={iconOnly ? word : undefined}>
      <Icon size={14} stroke={2} aria-hidden />
      {iconOnly ? <VisuallyHidden>{word}</VisuallyHidden> : word}
    </span>
  );
}

interface StateMarkProps {
  state: EventState;
  /** The library's own word for it, beside ours. */
  label?: string | null;
  iconOnly?: boolean;
}

/** The state of an event: hue, sign and word, never one alone. */
export function StateMark({ state, label, iconOnly }: StateMarkProps) {
  const words = useTranslations('states');
  const figures = useTranslations('figures');
  const mark = <Mark sign={STATE_SIGN[state]} word={words(state)} iconOnly={iconOnly} />;
  if (label === undefined || label === null) return mark;
  return (
    <span className={classes.labelled}>
      {mark}
      <span className={classes.ownWord} title={`${label} · ${figures('ownWord')}`}>
        <bdi>{label}</bdi>
      </span>
    </span>
  );
}

/** The verdict on an outbox: hue, sign and word. */
export function VerdictMark({ verdict, iconOnly }: { verdict: Verdict; iconOnly?: boolean }) {
  const words = useTranslations('verdicts');
  return <Mark sign={TONE_SIGN[VERDICT_TONE[verdict]]} word={words(`${verdict}.name`)} iconOnly={iconOnly} />;
}

/** How much a finding of the doctor asks for: hue, sign and word; or a number in the word's place. */
export function SeverityMark({ severity, count }: { severity: Severity; count?: number }) {
  const words = useTranslations('doctor');
  return <Mark sign={SEVERITY_SIGN[severity]} word={count === undefined ? words(`severities.${severity}`) : String(count)} />;
}
