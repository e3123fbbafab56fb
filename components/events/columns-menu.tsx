'use client';

import { Button, Checkbox, Popover } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { Capabilities } from '@/lib/shared/model';
import { savePreference } from '../frame/save-preference';
import { COLUMNS, COLUMNS_COOKIE, columnAvailable, serialiseColumns, type Column } from './columns';
import classes from '../lists/filters.module.css';

interface ColumnsMenuProps {
  capabilities: Capabilities;
  chosen: readonly Column[];
  /** The screen shows the choice and puts it into the URL; the browser keeps it for the next list. */
  onChange: (columns: Column[]) => void;
}

export function ColumnsMenu({ capabilities, chosen, onChange }: ColumnsMenuProps) {
  const t = useTranslations();
  const choose = (column: Column) => {
    const next = COLUMNS.filter((other) => (other === column ? !chosen.includes(other) : chosen.includes(other)));
    if (next.length === 0) return;
    savePreference(COLUMNS_COOKIE, serialiseColumns(next));
    onChange(next);
  };
  return (
    <Popover position="bottom-end" width={272} trapFocus returnFocus shadow="md" transitionProps={{ duration: 80 }}>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<IconColumns3 size={14} aria-hidden />}>
          {t('events.chooseColumns')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={classes.editor} aria-label={t('events.chooseColumns')}>
        <div className={classes.form}>
          {COLUMNS.map((column) => {
            const available = columnAvailable(column, capabilities);
            return (
              <Checkbox
                key={column}
                size="xs"
                checked={chosen.includes(column)}
                disabled={!available}
                onChange={() => choose(column)}
                label={t(`events.columns.${column}`)}
                description={available ? undefined : t('unavailable.not_in_schema')}
              />
            );
          })}
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
