import { IconSearch } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useState, type ReactNode, type RefObject } from 'react';
import { countFilters, type FilterErrors, type FilterField } from '@/lib/shared/lists/event-filter';
import type { EventFilter, OutboxInfo } from '@/lib/shared/model';
import { STATES, type State } from '@/lib/shared/states';
import { StateMark } from '../figures/mark';
import type { Snapshot } from '../frame/live';
import { ChoiceBar, Form, TextField } from '../frame/controls';
import { Filters, ManyEditor, textChip, useTimeChip, type Chip } from '../lists/filters';
import type { List } from '../lists/use-list';
import classes from '../lists/filters.module.css';

/** In order; `from` means the time range. */
const CHIPS = ['state', 'type', 'aggregate', 'from', 'error', 'cause'] as const satisfies readonly FilterField[];
type ChipField = (typeof CHIPS)[number];

interface ListProps {
  list: Pick<List<EventFilter, Snapshot>, 'filter' | 'setFilter'>;
}

interface FilterBarProps extends ListProps {
  /** The outbox of these events; null for dead letters. */
  outbox: OutboxInfo | null;
  errors?: FilterErrors;
  hidden: readonly FilterField[];
  types: readonly string[];
  before: ReactNode;
}

export function FilterBar({ outbox, list: { filter, setFilter }, errors = {}, hidden, types, before }: FilterBarProps) {
  const t = useTranslations();
  const wrong = (field: FilterField) => {
    const error = errors[field];
    return error && t(`events.filterErrors.${error.code}`, { value: error.value });
  };
  const whyNot = (state: State) => {
    const of = outbox?.capabilities.states[state];
    return of === undefined || of.available ? undefined : t(`unavailable.${of.because}`);
  };
  const text = (field: 'aggregate' | 'error' | 'cause', label: string): Chip<EventFilter> =>
    textChip(field, { label, hint: t(`events.filter.${field}Hint`), error: wrong(field), value: filter[field] });
  const chips: Record<ChipField, Chip<EventFilter>> = {
    state: {
      label: t('events.columns.state'),
      value: filter.state?.map((state) => t(`states.${state}`)).join(', ') ?? null,
      error: wrong('state'),
      without: { state: undefined },
      editor: (apply) => (
        <ManyEditor
          chosen={filter.state}
          options={STATES.map((state) => ({ value: state, label: <StateMark state={state} />, unavailable: whyNot(state) }))}
          onApply={(state) => apply({ state })}
        />
      ),
    },
    type: {
      label: t('events.columns.type'),
      value: filter.type?.join(', ') ?? null,
      error: wrong('type'),
      without: { type: undefined },
      editor: (apply) => (
        <ManyEditor
          chosen={filter.type}
          options={[...new Set([...(filter.type ?? []), ...types])]
            .sort((a, b) => a.localeCompare(b, 'en'))
            .map((type) => ({ value: type, label: <bdi>{type}</bdi> }))}
          typed={t('events.filter.typeName')}
          onApply={(type) => apply({ type })}
        />
      ),
    },
    aggregate: text('aggregate', t('events.columns.aggregate')),
    from: useTimeChip(t('events.filter.created'), filter, wrong('from') ?? wrong('to')),
    error: text('error', t('events.columns.error')),
    cause: text('cause', t('events.filter.cause')),
  };
  const held = outbox?.capabilities.fields;
  const offered: Record<ChipField, boolean | undefined> = {
    state: held !== undefined,
    type: true,
    aggregate: held?.aggregate,
    from: held?.createdAt,
    error: held?.error ?? true,
    cause: held?.error ?? true,
  };
  return (
    <Filters
      label={t('events.filter.label')}
      chips={CHIPS.filter((field) => offered[field] === true && !hidden.includes(field)).map((field) => chips[field])}
      onChange={(part) => setFilter({ ...filter, ...part })}
      onClear={countFilters(filter) + Object.keys(errors).length > 0 ? () => setFilter({ order: filter.order }) : null}
      before={before}
      after={<FilterMessages errors={errors} />}
    />
  );
}

/** A box for any id: searches on Enter, and at once after a paste. */
export function SearchBox({ list: { filter, setFilter }, inputRef }: ListProps & { inputRef: RefObject<HTMLInputElement | null> }) {
  const value = filter.q ?? '';
  const onSearch = (q: string) => setFilter({ ...filter, q: q.trim() === '' ? undefined : q });
  const t = useTranslations('events.filter');
  const [text, setText] = useState(value);
  return (
    <Form className={classes.search} onSubmit={() => onSearch(text)}>
      <TextField
        ref={inputRef}
        type="search"
        value={text}
        onChange={(event) => {
          const next = event.currentTarget.value;
          setText(next);
          // The search field's cross empties it.
          if (next === '' && value !== '') onSearch('');
        }}
        onPaste={(event) => {
          // Copying from a terminal adds a line end; a space may belong to the id.
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
        icon={<IconSearch size={14} aria-hidden />}
        autoComplete="off"
        spellCheck={false}
      />
    </Form>
  );
}

/** Newest or oldest first; without an order a filter means newest. */
export function OrderControl({ list: { filter, setFilter } }: ListProps) {
  const t = useTranslations('events');
  return (
    <ChoiceBar
      value={filter.order ?? 'newest'}
      onChange={(value) => setFilter({ ...filter, order: value === 'oldest' ? 'oldest' : undefined })}
      data={(['newest', 'oldest'] as const).map((value) => ({ value, label: t(value) }))}
      aria-label={t('order')}
    />
  );
}

/** The parts of a link's filter that were not understood, or that the viewer may not use. */
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
