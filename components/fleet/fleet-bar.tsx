import type { RefObject } from 'react';
import { IconSearch } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { ExaminedFleet } from '@/lib/shared/doctor';
import { VERDICTS } from '@/lib/shared/figures/verdicts';
import type { FleetFilter } from './fleet-lines';
import { Select, TextButton, TextField } from '../frame/controls';
import classes from './fleet-bar.module.css';

interface FleetBarProps {
  snapshot: ExaminedFleet;
  filter: FleetFilter;
  shown: number;
  search: RefObject<HTMLInputElement | null>;
  onChange: (filter: FleetFilter) => void;
}

/** Filters a long fleet by words, verdict and database. */
export function FleetBar({ snapshot: { entries, databases }, filter, shown, search, onChange }: FleetBarProps) {
  const words = useTranslations('fleet.filter');
  const verdicts = useTranslations('verdicts');
  const count = (verdict: string) => entries.filter(({ unread, summary }) => !unread && summary.diagnosis.verdict === verdict).length;
  const there = VERDICTS.filter((verdict) => verdict === filter.verdict || count(verdict) > 0);
  const filtered = Object.values(filter).some((value) => value !== undefined);
  return (
    <div className={classes.bar} role="search" aria-label={words('label')}>
      <TextField
        ref={search}
        className={classes.search}
        type="search"
        aria-label={words('search')}
        placeholder={words('search')}
        icon={<IconSearch size={14} aria-hidden />}
        value={filter.q ?? ''}
        onChange={(event) => onChange({ ...filter, q: event.currentTarget.value || undefined })}
      />
      <Select
        aria-label={words('verdict')}
        value={filter.verdict ?? ''}
        onChange={(event) => {
          const { value } = event.currentTarget;
          onChange({ ...filter, verdict: value === 'needing' ? value : VERDICTS.find((verdict) => verdict === value) });
        }}
        data={[
          { value: '', label: words('anyVerdict') },
          { value: 'needing', label: words('needing', { count: entries.filter((entry) => !entry.unread).length - count('healthy') }) },
          ...there.map((verdict) => ({
            value: verdict,
            label: words('counted', { name: verdicts(`${verdict}.name`), count: count(verdict) }),
          })),
        ]}
      />
      <Select
        aria-label={words('database')}
        value={filter.database ?? ''}
        onChange={(event) => onChange({ ...filter, database: event.currentTarget.value || undefined })}
        data={[
          { value: '', label: words('anyDatabase') },
          ...databases
            .map(({ id, outboxes }) => ({ value: id, label: words('counted', { name: id, count: outboxes }) }))
            .sort((a, b) => a.value.localeCompare(b.value, 'en', { numeric: true })),
        ]}
      />
      {filtered && (
        <>
          <span className={classes.shown} role="status">
            {words('shown', { shown, total: entries.length })}
          </span>
          <TextButton variant="subtle" size="compact-xs" onClick={() => onChange({})} label={words('clear')} />
        </>
      )}
    </div>
  );
}
