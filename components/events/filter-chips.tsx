import { useTranslations } from 'next-intl';
import type { EventFilter } from '@/lib/shared/model';
import { FilterChip } from './filter-chip';
import { TextEditor, TypeEditor } from './filter-editors';

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
