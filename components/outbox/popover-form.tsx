'use client';

import type { FormEvent, ReactNode } from 'react';
import { ButtonPopover } from '../frame/button-popover';
import classes from './charts.module.css';

interface PopoverFormProps {
  /** What it does, on the button that opens it. */
  label: string;
  icon: ReactNode;
  open: boolean;
  onOpen: (open: boolean) => void;
  /** Called before it opens and before it closes by its button. */
  onToggle: () => void;
  onSubmit: () => void;
  children: ReactNode;
}

/** A small form above the charts, behind a button. */
export function PopoverForm({ label, icon, open, onOpen, onToggle, onSubmit, children }: PopoverFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <ButtonPopover
      label={label}
      icon={icon}
      size="compact-sm"
      open={open}
      onOpen={onOpen}
      onToggle={onToggle}
      position="bottom-end"
      width={288}
    >
      <form className={classes.times} onSubmit={submit}>
        {children}
      </form>
    </ButtonPopover>
  );
}
