'use client';

import { useParams, usePathname, useRouter } from 'next/navigation';
import { Select } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { useConsole } from './console';
import classes from './frame.module.css';

/** Jumps to another outbox and stays on the same screen of it. */
export function OutboxSwitcher() {
  const { outboxes } = useConsole();
  const words = useTranslations('frame');
  const router = useRouter();
  const pathname = usePathname();
  const { outbox: current } = useParams<{ outbox?: string }>();
  const screen = /^\/outboxes\/[^/]+\/(events|dead-letters)/.exec(pathname)?.[1];
  return (
    <Select
      className={classes.switcher}
      size="xs"
      searchable
      allowDeselect={false}
      aria-label={words('outbox')}
      placeholder={words('allOutboxes')}
      nothingFoundMessage={words('noSuchOutbox')}
      data={[{ value: '', label: words('allOutboxes') }, ...outboxes.map(({ id, name }) => ({ value: id, label: name }))]}
      value={current === undefined ? '' : decodeURIComponent(current)}
      onChange={(id) => {
        if (id === null) return;
        router.push(id === '' ? '/' : `/outboxes/${encodeURIComponent(id)}${screen ? `/${screen}` : ''}`);
      }}
      comboboxProps={{ width: 280, position: 'bottom-start' }}
      maxDropdownHeight={400}
    />
  );
}
