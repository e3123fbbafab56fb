'use client';

import { CloseButton, Popover, UnstyledButton } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useState, type ReactNode } from 'react';
import classes from './filters.module.css';

interface FilterChipProps {
  label: string;
  /** What it is set to, in words; null when it does not narrow. */
  value: string | null;
  /** What is wrong with what the URL says. */
  error?: string;
  onClear: () => void;
  /** The editor; it closes the chip itself once something was chosen. */
  children: (close: () => void) => ReactNode;
}

/** One field of the filter: its name, its value once set, an editor on click and a cross to take it away. */
export function FilterChip({ label, value, error, onClear, children }: FilterChipProps) {
  const t = useTranslations('events');
  const [open, setOpen] = useState(false);
  return (
    <Popover
      opened={open}
      onChange={setOpen}
      position="bottom-start"
      width={272}
      trapFocus
      returnFocus
      shadow="md"
      transitionProps={{ duration: 80 }}
    >
      <span className={classes.chip} data-set={value !== null || undefined} data-wrong={error !== undefined || undefined}>
        <Popover.Target>
          <UnstyledButton className={classes.chipButton} onClick={() => setOpen((before) => !before)} aria-expanded={open}>
            {value === null ? label : t('filter.chip', { label, value })}
            {value === null && <IconChevronDown size={14} aria-hidden />}
          </UnstyledButton>
        </Popover.Target>
        {(value !== null || error !== undefined) && (
          <CloseButton size="xs" className={classes.chipClear} aria-label={t('filter.clear', { label })} onClick={onClear} />
        )}
      </span>
      <Popover.Dropdown className={classes.editor} aria-label={label}>
        {children(() => setOpen(false))}
      </Popover.Dropdown>
    </Popover>
  );
}
