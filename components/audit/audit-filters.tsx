import { Button, UnstyledButton } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { AUDIT_OUTCOMES } from '@/lib/shared/lists/audit-filter';
import type { AuditFilter } from '@/lib/shared/model';
import { FilterChip, TextEditor, TimeEditor, useTimeText } from '../lists/filters';
import { useConsole, useOutboxName } from '../frame/console';
import { useOperationName } from '../interventions/operations';
import classes from './audit.module.css';
import bar from '../lists/filters.module.css';

interface AuditFiltersProps {
  filter: AuditFilter;
  operations: readonly string[];
  onChange: (filter: AuditFilter) => void;
}

export function AuditFilters({ filter, operations, onChange }: AuditFiltersProps) {
  const t = useTranslations('audit');
  const words = useTranslations('events.filter');
  const operationName = useOperationName();
  const name = (recorded: string) => (t.has(`names.${recorded}`) ? t(`names.${recorded}`) : operationName(recorded));
  const { outboxes } = useConsole();
  const timeText = useTimeText();
  const change = (part: Partial<AuditFilter>) => onChange({ ...filter, ...part });
  const outboxName = useOutboxName();
  return (
    <div className={bar.bar} role="search" aria-label={t('filter')}>
      <TextChip label={t('actor')} hint={t('actorHint')} value={filter.actor} onChange={(actor) => change({ actor })} />
      <ChoiceChip
        label={t('outbox')}
        value={filter.outbox}
        choices={outboxes.map(({ id }) => id)}
        nameOf={outboxName}
        onChange={(outbox) => change({ outbox })}
      />
      <ChoiceChip
        label={t('operation')}
        value={filter.operation}
        choices={operations}
        nameOf={name}
        onChange={(operation) => change({ operation })}
      />
      <ChoiceChip
        label={t('outcome')}
        value={filter.outcome}
        choices={AUDIT_OUTCOMES}
        nameOf={(outcome) => t(`outcomes.${outcome}`)}
        onChange={(outcome) => change({ outcome })}
      />
      <TextChip label={t('event')} hint={t('eventHint')} value={filter.event} onChange={(event) => change({ event })} />
      <FilterChip label={t('time')} value={timeText(filter)} onClear={() => change({ from: undefined, to: undefined })}>
        {(close) => (
          <TimeEditor
            filter={filter}
            onApply={(range) => {
              close();
              change({ from: range.from, to: range.to });
            }}
          />
        )}
      </FilterChip>
      {Object.values(filter).some((value) => value !== undefined) && (
        <Button variant="subtle" size="compact-sm" onClick={() => onChange({})}>
          {words('clearAll')}
        </Button>
      )}
    </div>
  );
}

interface TextChipProps {
  label: string;
  hint: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

function TextChip({ label, hint, value, onChange }: TextChipProps) {
  return (
    <FilterChip label={label} value={value ?? null} onClear={() => onChange(undefined)}>
      {(close) => (
        <TextEditor
          label={label}
          hint={hint}
          value={value ?? ''}
          onApply={(text) => {
            close();
            onChange(text.trim() === '' ? undefined : text.trim());
          }}
        />
      )}
    </FilterChip>
  );
}

interface ChoiceChipProps {
  label: string;
  value: string | undefined;
  choices: readonly string[];
  nameOf: (choice: string) => string;
  onChange: (value: string | undefined) => void;
}

function ChoiceChip({ label, value, choices, nameOf, onChange }: ChoiceChipProps) {
  return (
    <FilterChip label={label} value={value === undefined ? null : nameOf(value)} onClear={() => onChange(undefined)}>
      {(close) => (
        <ul className={classes.choices}>
          {choices.map((choice) => (
            <li key={choice}>
              <UnstyledButton
                className={classes.choice}
                aria-pressed={choice === value}
                onClick={() => {
                  close();
                  onChange(choice);
                }}
              >
                <bdi>{nameOf(choice)}</bdi>
              </UnstyledButton>
            </li>
          ))}
        </ul>
      )}
    </FilterChip>
  );
}
