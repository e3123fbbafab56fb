'use client';

import { useState } from 'react';
import Link from 'next/link';
import { Title, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { UnavailableReason } from '@/lib/shared/measured';
import type { OutboxInfo, TypeFigures } from '@/lib/shared/model';
import { Duration, Figure } from '../figures/figure';
import { useFormat } from '../figures/use-format';
import { TYPE_COLUMNS, sortTypes, type TypeColumn, type TypeSort } from './sort-types';
import classes from './outbox.module.css';

const NUMBER_COLUMNS = ['waiting', 'dead', 'retries', 'errors', 'p95Ms'] as const;
type NumberColumn = (typeof NUMBER_COLUMNS)[number];

/** The figures by event type; a type leads to its events. */
export function TypeTable({ outbox, rows }: { outbox: OutboxInfo; rows: TypeFigures[] }) {
  const words = useTranslations('outbox');
  const format = useFormat();
  const [sort, setSort] = useState<TypeSort>({ column: 'waiting', descending: true });
  const { states, fields } = outbox.capabilities;
  const whyMissing: Partial<Record<TypeColumn, UnavailableReason>> = {
    waiting: 'too_many_rows',
    dead: states.dead.available ? 'too_many_rows' : states.dead.because,
    retries: fields.attempts ? 'too_many_rows' : 'no_attempts',
    errors: fields.error ? 'needs_sampling' : 'not_in_schema',
    p95Ms: fields.publishedAt ? 'no_events' : 'no_published_at',
  };
  const sorted = sortTypes(rows, sort);
  const isMissing = (column: TypeColumn) => rows.every((row) => row[column] === null);
  const cell = (row: TypeFigures, column: NumberColumn, first: boolean) => {
    const value = row[column];
    // A column that this table cannot fill says so once.
    if (isMissing(column)) {
      if (!first) return null;
      return (
        <td key={column} rowSpan={rows.length}>
          <Figure text={null} why={whyMissing[column]} />
        </td>
      );
    }
    return (
      <td key={column}>
        {column === 'p95Ms' ? (
          <Duration ms={value} why={whyMissing[column]} />
        ) : (
          <Figure text={value === null ? null : format.number(value)} why={whyMissing[column]} />
        )}
      </td>
    );
  };

  const header = (column: TypeColumn) => {
    const active = sort.column === column;
    const Arrow = sort.descending ? IconArrowDown : IconArrowUp;
    return (
      <th key={column} scope="col" data-column={column} aria-sort={active ? (sort.descending ? 'descending' : 'ascending') : 'none'}>
        <UnstyledButton
          className={classes.sort}
          onClick={() => setSort({ column, descending: active ? !sort.descending : column !== 'type' })}
        >
          {words(`types.${column}`)}
          {active && <Arrow size={14} aria-hidden />}
        </UnstyledButton>
      </th>
    );
  };

  return (
    <section className={classes.panel}>
      <Title order={2} id="by-type">
        {words('types.title')}
      </Title>
      {rows.length === 0 ? (
        <p className={classes.none}>{words('types.empty')}</p>
      ) : (
        <div className={classes.scroll} role="region" aria-labelledby="by-type" tabIndex={0}>
          <table className={classes.types}>
            <thead>
              <tr>{TYPE_COLUMNS.map(header)}</tr>
            </thead>
            <tbody>
              {sorted.map((row, index) => (
                <tr key={row.type}>
                  <th scope="row">
                    <Link href={`/outboxes/${encodeURIComponent(outbox.id)}/events?type=${encodeURIComponent(row.type)}`}>{row.type}</Link>
                  </th>
                  {NUMBER_COLUMNS.map((column) => cell(row, column, index === 0))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
