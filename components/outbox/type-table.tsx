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

/** The figures by event type; a type leads to its events. */
export function TypeTable({ outbox, rows }: { outbox: OutboxInfo; rows: TypeFigures[] }) {
  const words = useTranslations('outbox');
  const format = useFormat();
  const [sort, setSort] = useState<TypeSort>({ column: 'waiting', descending: true });
  const { states, fields } = outbox.capabilities;
  const deadWhy = states.dead.available ? undefined : states.dead.because;
  const retriesWhy: UnavailableReason | undefined = fields.attempts ? undefined : 'no_attempts';
  const count = (value: number | null, why: UnavailableReason | undefined) => (
    <Figure text={value === null ? null : format.number(value)} why={why} />
  );

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
              {sortTypes(rows, sort).map((row) => (
                <tr key={row.type}>
                  <th scope="row">
                    <Link href={`/outboxes/${encodeURIComponent(outbox.id)}/events?type=${encodeURIComponent(row.type)}`}>{row.type}</Link>
                  </th>
                  <td>{count(row.waiting, 'too_many_rows')}</td>
                  <td>{count(row.dead, deadWhy)}</td>
                  <td>{count(row.retries, retriesWhy)}</td>
                  <td>{count(row.errors, fields.error ? 'too_many_rows' : 'not_in_schema')}</td>
                  <td>
                    <Duration ms={row.p95Ms} why={fields.publishedAt ? 'no_events' : 'no_published_at'} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
