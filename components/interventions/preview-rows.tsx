import { useTranslations } from 'next-intl';
import { groupBy } from '@/lib/shared/group-by';
import { errorTemplate } from '@/lib/shared/lists/cause';
import type { InterventionPreview } from '@/lib/shared/model';
import { sumText } from '@/lib/shared/text/money';
import { visibleText } from '@/lib/shared/text/visible-text';
import { StateMark } from '../figures/mark';
import { RelativeTime, useAgo, useFormat } from '../figures/format';
import { TableHead } from '../frame/note';
import { useSkipText } from './operations';
import classes from './preview-rows.module.css';

type Row = InterventionPreview['rows'][number];

/** What the events have in common: their most frequent cause, their age and their sum. */
export function About({ rows }: { rows: Row[] }) {
  const t = useTranslations('interventions.about');
  const format = useFormat();
  const ago = useAgo();
  const events = rows.flatMap(({ event, allowed }) => (allowed ? event : []));
  const causes = groupBy(
    events.flatMap(({ error }) => (error === null ? [] : (errorTemplate(error) ?? []))),
    (cause) => cause,
  );
  const [cause] = [...causes].sort(([, a], [, b]) => b.length - a.length);
  const times = events.flatMap(({ createdAt }) => createdAt ?? []).sort();
  const [oldest, newest] = [times[0], times.at(-1)];
  const sum = sumText(events, format.locale);
  const facts = [
    ...(oldest === undefined || newest === undefined
      ? []
      : [t('created', { one: oldest === newest ? 'yes' : 'no', oldest: ago(oldest), newest: ago(newest) })]),
    ...(sum.sums === '' ? [] : [t('sum', sum)]),
  ];
  return (
    <div className={classes.about}>
      {cause !== undefined && (
        <p>
          {t('cause', { count: cause[1].length, all: events.length })} <bdi>{visibleText(cause[0])}</bdi>
        </p>
      )}
      {facts.length > 0 && <p>{facts.join(' · ')}</p>}
    </div>
  );
}

/** First the rows that will change, then those left alone, each with the reason. */
export function PreviewRows({ rows }: { rows: Row[] }) {
  const t = useTranslations('interventions');
  const changing = rows.filter(({ allowed }) => allowed);
  const left = rows.filter(({ allowed }) => !allowed);
  const previewRow = (row: Row) => <PreviewRow key={row.event.id} row={row} />;
  const attempts = { className: classes.number, children: t('columns.attempts') };
  const columns = [t('columns.state'), t('columns.event'), attempts, t('columns.age')];
  return (
    <div className={classes.rows} tabIndex={0} role="region" aria-label={t('rows')}>
      <table className={classes.table}>
        <TableHead columns={columns} />
        <tbody>{changing.map(previewRow)}</tbody>
        {left.length > 0 && (
          <tbody>
            <tr>
              <th scope="rowgroup" colSpan={4} className={classes.leftAlone}>
                {t('leftAlone', { count: left.length })}
              </th>
            </tr>
            {left.map(previewRow)}
          </tbody>
        )}
      </table>
    </div>
  );
}

function PreviewRow({ row: { event, allowed, code, because } }: { row: Row }) {
  const skip = useSkipText();
  return (
    <>
      <tr data-left={!allowed || undefined}>
        <td>
          <StateMark state={event.state} label={event.stateLabel} />
        </td>
        <td className={classes.event}>
          <bdi>{event.type ?? event.id}</bdi>
          {event.aggregateId !== null && <bdi className={classes.aggregate}>{event.aggregateId}</bdi>}
        </td>
        <td className={classes.number}>{event.attempts ?? ''}</td>
        <td>{event.createdAt !== null && <RelativeTime at={event.createdAt} />}</td>
      </tr>
      {!allowed && (
        <tr data-left>
          <td colSpan={4} className={classes.because}>
            {skip(code, { state: event.state, at: event.publishedAt, because: because ?? undefined })}
          </td>
        </tr>
      )}
    </>
  );
}

/** The statements that will run, on request; values are numbered parameters, listed below. */
export function SqlView({ statements }: { statements: InterventionPreview['sql'] }) {
  const t = useTranslations('interventions');
  return (
    <details className={classes.sql}>
      <summary>{t('showSql')}</summary>
      <p>{t('sqlNote')}</p>
      {statements.map(({ text, parameters }, index) => (
        <div key={index} className={classes.statement}>
          <pre tabIndex={0} aria-label={t('statement', { number: index + 1 })}>
            <code>{text}</code>
          </pre>
          {parameters.length > 0 && (
            <ol className={classes.parameters}>
              {parameters.map((value, position) => (
                <li key={position}>
                  <span>{`$${String(position + 1)}`}</span> <bdi>{value}</bdi>
                </li>
              ))}
            </ol>
          )}
        </div>
      ))}
    </details>
  );
}
