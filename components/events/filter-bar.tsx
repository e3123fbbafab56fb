import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useState, type RefObject } from 'react';
import { countFilters, type FilterErrors, type FilterField } from '@/lib/shared/lists/event-filter';
import type { EventFilter, OutboxInfo } from '@/lib/shared/model';
import { FilterChip, StateEditor, TextEditor, TimeEditor, TypeEditor, useTimeText } from '../lists/filters';
import type { List } from '../lists/use-list';
import classes from '../lists/filters.module.css';

type FilteredList = Pick<List<EventFilter, object>, 'filter' | 'setFilter'>;

interface FilterBarProps {
  outbox: OutboxInfo;
  list: FilteredList;
  errors: FilterErrors;
  types: readonly string[];
  /** Filters that are not the viewer's to use. */
  hidden: readonly FilterField[];
  searchRef: RefObject<HTMLInputElement | null>;
}

/** The filter as chips, one per field, and a box for whatever id somebody has in the clipboard. */
export function FilterBar({ outbox, list, errors, types, hidden, searchRef }: FilterBarProps) {
  const { filter } = list;
  const t = useTranslations();
  const timeText = useTimeText();
  const { fields, states } = outbox.capabilities;
  const change = (part: Partial<EventFilter>) => list.setFilter({ ...filter, ...part });
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
          value={timeText(filter)}
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
      {countFilters(filter) + Object.keys(errors).length > 0 && <ClearAll list={list} />}
      <FilterMessages errors={errors} />
    </div>
  );
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

/** Takes every filter away; the order stays. */
export function ClearAll({ list: { filter, setFilter } }: { list: FilteredList }) {
  const t = useTranslations('events.filter');
  return (
    <Button variant="subtle" size="compact-sm" onClick={() => setFilter({ order: filter.order })}>
      {t('clearAll')}
    </Button>
  );
}

/** Newest or oldest first; newest is what a filter without an order means. */
export function OrderControl({ list: { filter, setFilter } }: { list: FilteredList }) {
  const t = useTranslations('events');
  return (
    <SegmentedControl
      size="xs"
      value={filter.order ?? 'newest'}
      onChange={(value) => setFilter({ ...filter, order: value === 'oldest' ? 'oldest' : undefined })}
      data={[
        { value: 'newest', label: t('newest') },
        { value: 'oldest', label: t('oldest') },
      ]}
      aria-label={t('order')}
    />
  );
}

interface ChipProps {
  filter: EventFilter;
  /** What is wrong with its value, in words. */
  error?: string;
  onChange: (part: Partial<EventFilter>) => void;
}

/** Events of some types. */
export function TypeChip({ suggestions, filter, error, onChange }: ChipProps & { suggestions: readonly string[] }) {
  const t = useTranslations('events');
  return (
    <FilterChip
      label={t('columns.type')}
      value={filter.type?.join(', ') ?? null}
      error={error}
      onClear={() => onChange({ type: undefined })}
    >
      {(close) => (
        <TypeEditor
          chosen={filter.type ?? []}
          suggestions={suggestions}
          onApply={(chosen) => {
            close();
            onChange({ type: chosen.length === 0 ? undefined : chosen });
          }}
        />
      )}
    </FilterChip>
  );
}

/** Events in which a field has, or holds, a text. */
export function TextChip({ field, filter, error, onChange }: ChipProps & { field: 'aggregate' | 'error' | 'cause' }) {
  const t = useTranslations('events');
  const label = field === 'cause' ? t('filter.cause') : t(`columns.${field}`);
  return (
    <FilterChip label={label} value={filter[field] ?? null} error={error} onClear={() => onChange({ [field]: undefined })}>
      {(close) => (
        <TextEditor
          label={label}
          hint={t(`filter.${field}Hint`)}
          value={filter[field] ?? ''}
          onApply={(value) => {
            close();
            onChange({ [field]: value.trim() === '' ? undefined : value });
          }}
        />
      )}
    </FilterChip>
  );
}

/** What of a link's filter was not understood, or is not the viewer's to use. */
export function FilterMessages({ errors }: { errors: FilterErrors }) {
  const t = useTranslations('events.filterErrors');
  const wrong = Object.entries(errors);
  if (wrong.length === 0) return null;
  return (
    <ul className={classes.errors} role="alert">
      {wrong.map(([field, { code, value }]) => (
        <li key={field}>{t(code, { value })}</li>
      ))}
    </ul>
  );
}
