import type { ReactNode } from 'react';
import classes from './note.module.css';

interface NoteProps {
  icon?: ReactNode;
  /** Something is missing or barred, rather than told. */
  dashed?: boolean;
  /** Said aloud when it comes. */
  status?: boolean;
  children: ReactNode;
}

/** A line that holds for the screen below it. */
export function Note({ icon, dashed, status, children }: NoteProps) {
  return (
    <p className={classes.note} data-dashed={dashed} role={status ? 'status' : undefined}>
      {icon}
      <span>{children}</span>
    </p>
  );
}

/** What stands where the rows would be. */
export function Notice({ title, text, children }: { title: string; text?: ReactNode; children?: ReactNode }) {
  return (
    <div className={classes.notice} role="status">
      <p className={classes.noticeTitle}>{title}</p>
      {text !== undefined && <div className={classes.noticeText}>{text}</div>}
      {children !== undefined && <div className={classes.noticeButtons}>{children}</div>}
    </div>
  );
}

/** What there is to know, name by name. */
export function FactList({ facts, className }: { facts: readonly (readonly [name: string, text: ReactNode])[]; className?: string }) {
  return (
    <dl className={className}>
      {facts.map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
