'use client';

import { useTranslations } from 'next-intl';
import { unseenText, valueText } from '@/lib/shared/doctor-text';
import type { Examination, TableReport } from '@/lib/shared/doctor';
import { useReader } from './doctor-line';
import { Cure } from './finding-card';
import classes from './doctor.module.css';

/** Tables and indexes of one outbox as they are: size, growth, and how often each index was read. */
export function TablesSection({ examination: { tables, statisticsSince, unseen } }: { examination: Examination }) {
  const words = useTranslations('doctor');
  const reader = useReader();
  return (
    <>
      {tables.length > 0 && (
        <section className={classes.section}>
          <h2>{words('tables')}</h2>
          {tables.map((table) => (
            <TableBlock key={table.table} table={table} />
          ))}
          <p className={classes.quiet}>
            {statisticsSince === null ? words('scansEver') : words('scansSince', { at: valueText('at', statisticsSince, reader) ?? '' })}
          </p>
        </section>
      )}
      {unseen.length > 0 && (
        <section className={classes.section}>
          <h2>{words('unseenTitle')}</h2>
          {unseen.map((one) => (
            <div key={one.code} className={classes.unseen}>
              <p>{unseenText(one, reader)}</p>
              {one.cure !== null && <Cure sql={one.cure} />}
            </div>
          ))}
        </section>
      )}
    </>
  );
}

function TableBlock({
  table: { table, rows, tableBytes, indexBytes, growthBytesPerDay, writesPerSecond, hotShare, indexes },
}: {
  table: TableReport;
}) {
  const words = useTranslations('doctor');
  const reader = useReader();
  const text = (name: string, value: number | null): string => valueText(name, value, reader) ?? words('notCounted');
  const facts = [
    rows === null ? null : words('tableRows', { rows: text('rows', rows) }),
    text('bytes', tableBytes + indexBytes),
    growthBytesPerDay === null ? null : words('tableGrowth', { growth: text('bytes', growthBytesPerDay) }),
    writesPerSecond === null ? null : words('tableWrites', { writes: text('writesPerSecond', writesPerSecond) }),
    hotShare === null ? null : words('hot', { share: text('hotShare', hotShare) }),
  ].filter((fact) => fact !== null);
  return (
    <div className={classes.table}>
      <h3>
        <code>{table}</code> <span className={classes.quiet}>{facts.join(' · ')}</span>
      </h3>
      <div className={classes.scroll} tabIndex={0} role="region" aria-label={table}>
        <table>
          <thead>
            <tr>
              {(['name', 'size', 'entries', 'scans', 'definition'] as const).map((column) => (
                <th key={column} scope="col" data-column={column}>
                  {words(`columns.${column}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {indexes.map(({ name, definition, bytes, entries, scans, valid }) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                  {!valid && <span className={classes.invalid}> {words('invalid')}</span>}
                </th>
                <td data-column="size">{text('bytes', bytes)}</td>
                <td data-column="entries">{text('entries', entries)}</td>
                <td data-column="scans">{text('scans', scans)}</td>
                <td data-column="definition">
                  <code>{definition}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
