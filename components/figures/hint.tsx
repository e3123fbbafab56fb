'use client';

import type { ReactNode } from 'react';
import { Tooltip } from '@mantine/core';
import classes from './figures.module.css';

/** Words with a reason behind them: the reason shows on hover, on touch and when the keyboard comes by. */
export function Hint({ reason, children, className }: { reason: string; children: ReactNode; className?: string }) {
  return (
    <Tooltip label={reason} events={{ hover: true, focus: true, touch: true }} multiline maw={320} withArrow>
      {/* A reason only a mouse can read is no reason: the words take the focus. */}
      <span tabIndex={0} className={className ? `${classes.hint} ${className}` : classes.hint}>
        {children}
      </span>
    </Tooltip>
  );
}
