'use client';

import { Button, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useState, type RefObject } from 'react';
import { countFilters, type FilterErrors, type FilterField } from '@/lib/shared/lists/event-filter';
import type { EventFilter, OutboxInfo } from '@/lib/shared/model';
import { useFormat } from '../figures/use-format';
import { FilterChip } from './filter-chip';
import { FilterMessages } from './filter-messages';
import { TextChip, TypeChip } from './filter-chips';
import { StateEditor, TimeEditor } from './filter-editors';
import classes from './filter-bar.module.css';

interface FilterBarProps {
  outbox: OutboxInfo;
  filter: EventFilter;
  errors: FilterErrors;
  types: readonly string[];
  /** Filters that are not the viewer's to use. */
  hidden: readonly FilterField[];
  onChange: (filter: EventFilter) => void;
  searchRef: RefObject<HTMLInputElement | null>;
}

/** The filter as chips, one per field, and a box for whatever id somebody has in the clipboard. */
export function FilterBar({ outbox, filter, errors, types, hidden, onChange, searchRef }: FilterBarProps) {
  const t = useTranslations();
  const format = useFormat();
  const { fields, states } = outbox.capabilities;
  const change = (part: Partial<EventFilter>) => onChange({ ...filter, ...part });
  const wrong = (field: FilterField) => {
    const error = errors[field];
    return error && t(`events.filterErrors.${error.code}`, { value: error.value });
  };
  return (
    <div className={classes.bar} role="search" aria-label={t('events.filter.label')}>
      {!hidden.includes('q') && (
        <SearchBox
          key={filter.q ?? ''}
          value={filter.q ?? ''}
          onSearch={(q) => change({ q: q === '' ? undefined : q })}
          inputRef={searchRef}
        />
      )}
      <FilterChip
        label={t('events.columns.state')}
        value={filter.state?.map((state) => t(`states.${state}`)).join(', ') ?? null}
        error={wrong('state')}
        onClear={() => change({ state: undefined })}
      >
        {(close) => (
          <StateEditor
            chosen={filter.state ?? []}
            states={states}
            onApply={(chosen) => {
              close();
              change({ state: chosen.length === 0 ? undefined : chosen });
            }}
          />
        )}
      </FilterChip>
      {!hidden.includes('type') && <TypeChip suggestions={types} filter={filter} error={wrong('type')} onChange={change} />}
      {fields.aggregate && !hidden.includes('aggregate') && (
        <TextChip field="aggregate" filter={filter} error={wrong('aggregate')} onChange={change} />
      )}
      {fields.createdAt && (
        <FilterChip
          label={t('events.filter.created')}
          value={timeValue(filter, (key, values) => t(`events.filter.${key}`, values), format.absolute)}
          error={wrong('from') ?? wrong('to')}
          onClear={() => change({ from: undefined, to: undefined })}
        >
          {(close) => (
            <TimeEditor
              filter={filter}
              onApply={({ from, to }) => {
                close();
                change({ from, to });
              }}
            />
          )}
        </FilterChip>
      )}
      {fields.error && !hidden.includes('error') && <TextChip field="error" filter={filter} error={wrong('error')} onChange={change} />}
      {fields.error && <TextChip field="cause" filter={filter} error={wrong('cause')} onChange={change} />}
      {countFilters(filter) + Object.keys(errors).length > 0 && (
        <Button variant="subtle" size="compact-sm" onClick={() => onChange({ order: filter.order })}>
          {t('events.filter.clearAll')}
        </Button>
      )}
      <FilterMessages errors={errors} />
    </div>
  );
}

function timeValue(
  { from, to }: EventFilter,
  say: (key: 'between' | 'since' | 'until', values: Record<string, string>) => string,
  absolute: (at: string) => string,
): string | null {
  if (from !== undefined && to !== undefined) return say('between', { from: absolute(from), to: absolute(to) });
  if (from !== undefined) return say('since', { from: absolute(from) });
  return to === undefined ? null : say('until', { to: absolute(to) });
}

interface SearchBoxProps {
  value: string;
  onSearch: (text: string) => void;
  inputRef: RefObject<HTMLInputElement | null>;
}

/** Searches on Enter, and at once after a paste: an id is pasted far more often than typed. */
function SearchBox({ value, onSearch, inputRef }: SearchBoxProps) {
  const t = useTranslations('events.filter');
  const [text, setText] = useState(value);
  return (
    <form
      className={classes.search}
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(text.trim() === '' ? '' : text);
      }}
    >
      <TextInput
        ref={inputRef}
        size="xs"
        type="search"
        value={text}
        onChange={(event) => {
          const next = event.currentTarget.value;
          setText(next);
          // The cross of a search field empties it.
          if (next === '' && value !== '') onSearch('');
        }}
        onPaste={(event) => {
          // The line's end is copied along from a terminal; a space may be the id's own.
          const pasted = event.clipboardData.getData('text').replace(/^[\r\n]+|[\r\n]+$/g, '');
          if (text !== '' || pasted.trim() === '' || pasted.length > 100) return;
          event.preventDefault();
          setText(pasted);
          onSearch(pasted);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
        placeholder={t('search')}
        aria-label={t('search')}
        leftSection={<IconSearch size={14} aria-hidden />}
        autoComplete="off"
        spellCheck={false}
      />
    </form>
  );
}
