'use client';

import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { FleetLine } from '@/lib/shared/figures/fleet';
import { VerdictSign } from '../figures/mark';
import { useVerdictSentence } from '../outbox/use-verdict-sentence';
import { FIGURE_COLUMNS } from './fleet-row';
import classes from './fleet.module.css';

interface AwayRowProps {
  database: string;
  lines: readonly [FleetLine, ...FleetLine[]];
  open: boolean;
  onToggle: () => void;
}

/** All outboxes of a database that is away: what has happened once, whom it concerns, and their own lines when it is opened. */
export function AwayRow({ database, lines, open, onToggle }: AwayRowProps) {
  const words = useTranslations('fleet');
  const sentence = useVerdictSentence(lines[0].summary);
  const Chevron = open ? IconChevronDown : IconChevronRight;
  return (
    <tr role="row" className={classes.row} data-away>
      <th role="rowheader" scope="row" data-column="outbox">
        <button type="button" className={classes.name} data-row aria-expanded={open} onClick={onToggle}>
          <Chevron size={14} aria-hidden className={classes.chevron} />
          {database}
        </button>
      </th>
      <td role="cell" data-column="verdict" colSpan={FIGURE_COLUMNS.length + 1}>
        <div className={classes.verdict}>
          <VerdictSign verdict="source_down" />
          <span>
            {sentence}
            <span className={classes.names}>
              {words('awayOutboxes', { count: lines.length })} {lines.map(({ outbox }) => outbox.name).join(', ')}
            </span>
          </span>
        </div>
      </td>
      <td role="cell" data-column="database" />
    </tr>
  );
}
