import { IconAlertTriangle, IconLock, type TablerIcon } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { PlainLink } from './go';
import type { ComponentProps, ReactNode } from 'react';
import { PROOF_REASONS } from '@/lib/shared/changes/read-only';
import type { OutboxInfo } from '@/lib/shared/model';
import { outboxHref } from '../hrefs';
import classes from './note.module.css';

interface NoteProps {
  icon?: ReactNode;
  /** For something missing or refused, not plain information. */
  dashed?: boolean;
  /** Announced by screen readers when it appears. */
  status?: boolean;
  children: ReactNode;
}

export function Note({ icon, dashed, status, children }: NoteProps) {
  return (
    <p className={classes.note} data-dashed={dashed} role={status ? 'status' : undefined}>
      {icon}
      <span>{children}</span>
    </p>
  );
}

/** A text with its sign before it, on a colour: a warning, if nothing else is said. */
export function SignedText({ icon: Icon = IconAlertTriangle, hue, text }: { icon?: TablerIcon; hue?: 'grey'; text: ReactNode }) {
  return (
    <p className={classes.signed} data-hue={hue}>
      <Icon size={16} aria-hidden />
      <span>{text}</span>
    </p>
  );
}

/** Shown where the rows would be. */
export function Notice({ title, text, children }: { title: string; text?: ReactNode; children?: ReactNode }) {
  return (
    <div className={classes.notice} role="status">
      <p className={classes.noticeTitle}>{title}</p>
      {text !== undefined && <div className={classes.noticeText}>{text}</div>}
      {children !== undefined && <div className={classes.noticeButtons}>{children}</div>}
    </div>
  );
}

interface FactListProps {
  facts: readonly (readonly [name: string, text: ReactNode])[];
  className?: string;
  /** The names stand in a column of their own, as wide as `--names`. */
  paired?: boolean;
}

/** Texts by name; a text that is null is left out. */
export function FactList({ facts, className = '', paired }: FactListProps) {
  return (
    <dl className={paired ? `${classes.pairs} ${className}` : className}>
      {facts.map(
        ([name, text]) =>
          text !== null && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

interface TableHeadProps {
  /** A column may have attributes beside its text. */
  columns: readonly (string | (ComponentProps<'th'> & Record<`data-${string}`, unknown>))[];
  /** With explicit roles: where a table is laid out as cards on a phone, browsers drop its own. */
  asCards?: boolean;
}

export function TableHead({ columns, asCards = false }: TableHeadProps) {
  const role = (name: string) => (asCards ? name : undefined);
  return (
    <thead role={role('rowgroup')}>
      <tr role={role('row')}>
        {columns.map((column, index) => (
          <th key={index} role={role('columnheader')} scope="col" {...(typeof column === 'string' ? { children: column } : column)} />
        ))}
      </tr>
    </thead>
  );
}

/** Why an outbox cannot be changed from here, and what to do about it; nothing if it can. */
export function ReadOnlyNote({ outbox: { id, whyReadOnly } }: { outbox: Pick<OutboxInfo, 'id' | 'whyReadOnly'> }) {
  const t = useTranslations();
  if (whyReadOnly === null) return null;
  return (
    <Note icon={<IconLock size={16} stroke={1.75} aria-hidden />} dashed>
      {t(`readOnly.${whyReadOnly}`)}{' '}
      {PROOF_REASONS.includes(whyReadOnly) && <PlainLink href={outboxHref(id, '/settings')}>{t('readOnly.open')}</PlainLink>}
    </Note>
  );
}
