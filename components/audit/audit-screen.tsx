'use client';

import { Title, UnstyledButton } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { AUDIT_OUTCOMES, serialiseAuditFilter } from '@/lib/shared/lists/audit-filter';
import type { AuditFilter, AuditPage } from '@/lib/shared/model';
import type { Action } from '@/lib/shared/problems';
import { useConsole, useOutboxName } from '../frame/console';
import { Notice } from '../frame/note';
import { TextButton } from '../frame/controls';
import { useOperationName } from '../interventions/operations';
import { type Chip, Filters, textChip, useTimeChip } from '../lists/filters';
import { LatestButton, useSteadyRows } from '../lists/steady-rows';
import { type List, useList } from '../lists/use-list';
import { AuditLacks } from './audit-lacks';
import { AuditLine } from './audit-line';
import classes from './audit.module.css';

interface AuditScreenProps {
  filter: AuditFilter;
  cursor: string | null;
  operations: readonly string[];
  initial: AuditPage;
  load: Action<{ query: string }, AuditPage>;
}

const isNarrow = (filter: AuditFilter): boolean => Object.values(filter).some((value) => value !== undefined);

/** Who did what to which event and why, refusals included; newest first. */
export function AuditScreen({ filter, cursor, operations, initial, load }: AuditScreenProps) {
  const t = useTranslations('audit');
  const words = useTranslations('events');
  const outboxName = useOutboxName();
  const list = useList<AuditFilter, AuditPage>({
    name: ['audit'],
    filter,
    serialise: serialiseAuditFilter,
    cursor,
    initial,
    load: (query) => load({ query }),
  });
  const { snapshot, pending, setFilter, turnTo } = list;
  const filtered = isNarrow(filter);
  const { nextCursor } = snapshot;
  const { rows: entries, newer, showLatest } = useSteadyRows(list.query, snapshot.entries, 0);
  return (
    <div className={classes.screen}>
      <div className={classes.head}>
        <Title order={1}>{t('title')}</Title>
        <LatestButton label={newer > 0 && t('newer', { count: newer })} onShow={showLatest} />
      </div>
      <AuditLacks lacks={snapshot.lacks} />
      <AuditFilters list={list} operations={operations} />
      {entries.length === 0 ? (
        <div className={classes.frame}>
          <Notice title={filtered ? t('noMatch') : t('empty')} text={filtered ? undefined : t('emptyText')}>
            {filtered && <TextButton variant="default" size="xs" onClick={() => setFilter({})} label={words('filter.clearAll')} />}
          </Notice>
        </div>
      ) : (
        <ol className={classes.frame} data-dimmed={list.dimmed || undefined} aria-label={t('title')}>
          {entries.map((entry) => (
            <AuditLine key={entry.id} entry={entry} outboxName={entry.outbox === null ? '' : outboxName(entry.outbox)} load={load} />
          ))}
        </ol>
      )}
      {(cursor !== null || nextCursor !== null) && (
        <div className={classes.pages}>
          {cursor !== null && (
            <TextButton variant="default" size="xs" disabled={pending} onClick={() => turnTo(null)} label={t('newest')} />
          )}
          <TextButton
            variant="default"
            size="xs"
            disabled={nextCursor === null || pending}
            onClick={() => turnTo(nextCursor)}
            label={t('older')}
          />
        </div>
      )}
    </div>
  );
}

function AuditFilters({ list: { filter, setFilter }, operations }: { list: List<AuditFilter, AuditPage>; operations: readonly string[] }) {
  const t = useTranslations('audit');
  const operationName = useOperationName();
  const { outboxes } = useConsole();
  const outboxName = useOutboxName();
  const text = (field: 'actor' | 'event' | 'action'): Chip<AuditFilter> =>
    textChip(field, { label: t(field), hint: t(`${field}Hint`), value: filter[field] }, (written) => written.trim());
  type Choice = 'outbox' | 'operation' | 'outcome';
  const choice = (field: Choice, choices: readonly string[], nameOf: (choice: string) => string): Chip<AuditFilter> => ({
    label: t(field),
    value: filter[field] === undefined ? null : nameOf(filter[field]),
    without: { [field]: undefined },
    editor: (apply) => (
      <ul className={classes.choices}>
        {choices.map((one) => (
          <li key={one}>
            <UnstyledButton className={classes.choice} aria-pressed={one === filter[field]} onClick={() => apply({ [field]: one })}>
              <bdi>{nameOf(one)}</bdi>
            </UnstyledButton>
          </li>
        ))}
      </ul>
    ),
  });
  const ids = outboxes.map(({ id }) => id);
  return (
    <Filters
      label={t('filter')}
      chips={[
        text('actor'),
        choice('outbox', ids, outboxName),
        choice('operation', operations, (recorded) => (t.has(`names.${recorded}`) ? t(`names.${recorded}`) : operationName(recorded))),
        choice('outcome', AUDIT_OUTCOMES, (outcome) => t(`outcomes.${outcome}`)),
        text('event'),
        ...(filter.action === undefined ? [] : [text('action')]),
        useTimeChip(t('time'), filter),
      ]}
      onChange={(part) => setFilter({ ...filter, ...part })}
      onClear={isNarrow(filter) ? () => setFilter({}) : null}
    />
  );
}
