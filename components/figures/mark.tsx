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
  IconMinus,
  IconRepeat,
  IconSettings,
  IconTrendingDown,
  IconX,
  type TablerIcon,
} from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { Severity } from '@/lib/shared/doctor';
import type { Fate } from '@/lib/shared/lists/found';
import type { EventState } from '@/lib/shared/states';
import { VERDICT_TONE, type Tone, type Verdict } from '@/lib/shared/figures/verdicts';
import classes from './figures.module.css';

interface Sign {
  hue: 'blue' | 'amber' | 'violet' | 'green' | 'red' | 'grey';
  icon: TablerIcon;
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

const FATE_SIGN: Record<Fate, Sign> = {
  dead: STATE_SIGN.dead,
  stuck: { hue: 'amber', icon: IconAlertTriangle },
  retrying: STATE_SIGN.retrying,
  waiting: STATE_SIGN.pending,
  archived: STATE_SIGN.archived,
  out: STATE_SIGN.published,
  none: { hue: 'grey', icon: IconMinus },
  not_known: STATE_SIGN.unmapped,
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

function Mark({ sign: { hue, icon: Icon, dashed }, word }: { sign: Sign; word: string }) {
  return (
    <span className={classes.mark} data-hue={hue} data-dashed={dashed}>
      <Icon size={14} stroke={2} aria-hidden />
      {word}
    </span>
  );
}

/** The state of an event: colour, sign and word, never one alone; `label` is the library's own name for it. */
export function StateMark({ state, label = null }: { state: EventState; label?: string | null }) {
  const words = useTranslations('states');
  const figures = useTranslations('figures');
  const mark = <Mark sign={STATE_SIGN[state]} word={words(state)} />;
  if (label === null) return mark;
  return (
    <span className={classes.labelled}>
      {mark}
      <span className={classes.ownWord} title={`${label} · ${figures('ownWord')}`}>
        <bdi>{label}</bdi>
      </span>
    </span>
  );
}

/** What became of a key, or of an event that has it. */
export const FateMark = ({ fate }: { fate: Fate }) => <Mark sign={FATE_SIGN[fate]} word={useTranslations('find.fate')(fate)} />;

export function VerdictMark({ verdict }: { verdict: Verdict }) {
  return <Mark sign={TONE_SIGN[VERDICT_TONE[verdict]]} word={useTranslations('verdicts')(`${verdict}.name`)} />;
}

/** The signs of verdicts and findings, defined once for all lines of a table. */
export function TableSigns() {
  const signs = Object.entries({ verdict: TONE_SIGN, finding: SEVERITY_SIGN }).flatMap(([kind, table]) =>
    Object.entries(table).map(([key, { icon }]) => ({ id: `${kind}-${key}`, icon })),
  );
  return (
    <svg width={0} height={0} aria-hidden className={classes.signs}>
      {signs.map(({ id, icon: Icon }) => (
        <symbol key={id} id={id} viewBox="0 0 24 24">
          <Icon size={24} stroke={2} />
        </symbol>
      ))}
    </svg>
  );
}

/** The sign of a verdict alone, in a few bytes; needs `TableSigns` before it. */
export function VerdictSign({ verdict }: { verdict: Verdict }) {
  const words = useTranslations('verdicts');
  const tone = VERDICT_TONE[verdict];
  const { hue, dashed } = TONE_SIGN[tone];
  const word = words(`${verdict}.name`);
  return (
    <span className={classes.mark} data-hue={hue} data-dashed={dashed} data-icon-only role="img" aria-label={word} title={word}>
      <svg width={14} height={14}>
        <use href={`#verdict-${tone}`} />
      </svg>
    </span>
  );
}

/** The number of findings with the sign of the worst, in a few bytes; needs `TableSigns` before it. */
export function SeveritySign({ severity, count }: { severity: Severity; count: number }) {
  return (
    <span className={classes.mark} data-hue={SEVERITY_SIGN[severity].hue}>
      <svg width={14} height={14} aria-hidden>
        <use href={`#finding-${severity}`} />
      </svg>
      {count}
    </span>
  );
}

export function SeverityMark({ severity }: { severity: Severity }) {
  return <Mark sign={SEVERITY_SIGN[severity]} word={useTranslations('doctor')(`severities.${severity}`)} />;
}
