'use client';

import type { FormEvent, ReactNode } from 'react';
import { Button, Popover } from '@mantine/core';
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
    <Popover
      opened={open}
      onChange={onOpen}
      position="bottom-end"
      width={288}
      trapFocus
      returnFocus
      shadow="md"
      transitionProps={{ duration: 80 }}
    >
      <Popover.Target>
        <Button size="compact-sm" variant="default" leftSection={icon} onClick={onToggle}>
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={label}>
        <form className={classes.times} onSubmit={submit}>
          {children}
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
