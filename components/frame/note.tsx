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
