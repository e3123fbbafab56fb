'use client';

import { IconBan, IconCheck, IconHelpCircle, IconMinus } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import type { AuditEntry } from '@/lib/shared/model';
import { AbsoluteTime, RelativeTime } from '../figures/time';
import { AuditSentence } from './audit-sentence';
import { BeforeAfter } from './before-after';
import { DeedDetails } from './deed-details';
import classes from './audit.module.css';

const ICONS = { applied: IconCheck, none: IconMinus, refused: IconBan, unknown: IconHelpCircle } as const;

/** One line of the audit: the sentence, when, and on request the row before and after. */
export function AuditLine({ entry, outboxName }: { entry: AuditEntry; outboxName: string }) {
  const t = useTranslations('audit');
  const [open, setOpen] = useState(false);
  const Icon = ICONS[entry.outcome];
  const hasRow = entry.before !== null || entry.after !== null;
  // A sign-in or a new token has nothing before it.
  const deed = entry.eventId === null && entry.before === null ? entry.after : null;
  return (
    <li className={classes.line} data-outcome={entry.outcome}>
      <span className={classes.outcome}>
        <Icon size={14} aria-hidden />
        {t(`outcomes.${entry.outcome}`)}
      </span>
      <div className={classes.text}>
        <AuditSentence entry={entry} outboxName={outboxName} />
        <div className={classes.meta}>
          <AbsoluteTime at={entry.at} />
          <span>
            <RelativeTime at={entry.at} />
          </span>
          {t.has(`roles.${entry.role}`) && <span>{t('as', { role: t(`roles.${entry.role}`) })}</span>}
        </div>
        {hasRow && (
          <details className={classes.details} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>{t(deed === null ? 'diff.title' : 'deed.title')}</summary>
            {open && (deed === null ? <BeforeAfter before={entry.before} after={entry.after} /> : <DeedDetails of={deed} />)}
          </details>
        )}
      </div>
    </li>
  );
}
