import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from '../frame/go';
import { useSearchParams } from 'next/navigation';
import { Title, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconChartLine } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { TypeFigures, OutboxInfo, Summary } from '@/lib/shared/model';
import { TREND_TYPES_MAX, type TypeTrend, withChartView, type ChartView } from '@/lib/shared/figures/chart-view';
import type { ActionResult } from '@/lib/shared/problems';
import type { Window } from '@/lib/shared/figures/windows';
import { Figure } from '../figures/figure';
import { isLacking } from '@/lib/shared/figures/measured';
import { useFormat } from '../figures/format';
import { TableHead } from '../frame/note';
import { Sparkline } from '../charts/sparkline';
import { outboxHref } from '../hrefs';
import { LeftOut } from './left-out';
import classes from './outbox.module.css';

type TypeColumn = Exclude<keyof TypeFigures, 'why'>;

/** `trouble`: what is dead first, then errors, then what waits. */
type TypeSort = { column: TypeColumn | 'trouble'; descending: boolean };

const TROUBLE = ['dead', 'errors', 'waiting'] as const;

/** Sorted rows; unknown values come last in both directions, equal ones are ordered by name. */
export function sortTypes(rows: TypeFigures[], { column, descending }: TypeSort): TypeFigures[] {
  const sign = descending ? -1 : 1;
  const compare = <T extends string | number>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);
  if (column === 'trouble')
    return rows.toSorted((a, b) => {
      const differs = TROUBLE.find((one) => (a[one] ?? 0) !== (b[one] ?? 0));
      return differs === undefined ? compare(a.type, b.type) : (b[differs] ?? 0) - (a[differs] ?? 0);
    });
  return rows.toSorted((a, b) => {
    const [x, y] = [a[column], b[column]];
    if (x === y) return compare(a.type, b.type);
    if (x === null) return 1;
    return y === null ? -1 : sign * compare(x, y);
  });
}

type TrendsAction = (input: { outbox: string; window: Window; types: string[] }) => Promise<ActionResult<TypeTrend[]>>;

/** Trends change more slowly than the figures, and each type costs a reading. */
const TREND_INTERVAL_MS = 60_000;

/** The flow of the types shown first, read after the screen is shown. Their order changes more often than they are read. */
function useTypeTrends(action: TrendsAction, outbox: string, window: Window, sort: TypeSort, types: readonly string[]) {
  const { data } = useQuery({
    queryKey: ['type-trends', outbox, window, sort],
    queryFn: async () => {
      const result = await action({ outbox, window, types: types.slice(0, TREND_TYPES_MAX) });
      return result.ok ? result.value : [];
    },
    enabled: types.length > 0,
    placeholderData: (shown, query) => (query?.queryKey[1] === outbox && query.queryKey[2] === window ? shown : undefined),
    staleTime: TREND_INTERVAL_MS,
    refetchInterval: TREND_INTERVAL_MS,
    refetchOnWindowFocus: false,
    retry: false,
  });
  return data;
}

const NUMBER_COLUMNS = ['waiting', 'dead', 'retries', 'errors', 'p95Ms'] as const;
type NumberColumn = (typeof NUMBER_COLUMNS)[number];

/** Columns with a bar in each cell, as long as its share of the largest value. */
const BARRED: readonly NumberColumn[] = ['retries', 'errors'];

export interface TypeTableProps {
  outbox: OutboxInfo;
  summary: Summary;
  view: ChartView;
  trendsAction: TrendsAction;
}

/** The figures by event type; a type links to its events and to its charts. */
export function TypeTable({ outbox, summary, view, trendsAction }: TypeTableProps) {
  const { byType: rows } = summary;
  const words = useTranslations('outbox');
  const search = useSearchParams();
  const [sort, setSort] = useState<TypeSort>({ column: 'trouble', descending: true });
  const sorted = sortTypes(rows, sort);
  const types = sorted.map(({ type }) => type);
  const trends = useTypeTrends(trendsAction, outbox.id, view.window, sort, types);
  const format = useFormat();
  const window = useTranslations('frame.windows')(view.window);
  const isEmpty = (column: NumberColumn) => rows.every((each) => each[column] === null);
  const lacking = NUMBER_COLUMNS.filter((column) => isEmpty(column) && isLacking(rows[0]?.why?.[column]));
  const columns = NUMBER_COLUMNS.filter((column) => !lacking.includes(column));
  const cell = (row: TypeFigures, column: NumberColumn, first: boolean) => {
    const value = row[column];
    // A column that cannot be filled now shows the reason once.
    if (isEmpty(column))
      return (
        first && (
          <td key={column} rowSpan={rows.length}>
            <Figure text={null} why={row.why?.[column]} />
          </td>
        )
      );
    const most = Math.max(...rows.map((each) => each[column] ?? 0));
    return (
      <td key={column}>
        {BARRED.includes(column) && value !== null && value > 0 && (
          <span className={classes.share} style={{ width: `${(value / most) * 48}px` }} aria-hidden />
        )}
        <Figure text={value === null ? null : column === 'p95Ms' ? format.latency(value) : format.number(value)} why={row.why?.[column]} />
      </td>
    );
  };

  const trend = (type: string) => {
    const values = trends?.find((one) => one.type === type)?.published;
    return values && <Sparkline values={values} say={(figures) => words('types.trendOf', { type, window, ...figures })} />;
  };

  const header = (column: TypeColumn) => {
    const active = sort.column === column;
    const Arrow = sort.descending ? IconArrowDown : IconArrowUp;
    const children = (
      <UnstyledButton
        className={classes.sort}
        onClick={() => setSort({ column, descending: active ? !sort.descending : column !== 'type' })}
      >
        {words(`types.${column}`)}
        {active && <Arrow size={14} aria-hidden />}
      </UnstyledButton>
    );
    return { 'data-column': column, 'aria-sort': active ? (sort.descending ? 'descending' : 'ascending') : 'none', children } as const;
  };
  const trendHeader = { className: classes.trend, children: words('types.trend', { window }) };

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
            <TableHead columns={[header('type'), trendHeader, ...columns.map(header)]} />
            <tbody>
              {sorted.map((row, index) => (
                <tr key={row.type}>
                  <th scope="row">
                    <Link href={outboxHref(outbox.id, `/events?type=${encodeURIComponent(row.type)}`)}>{row.type}</Link>
                    <Link
                      href={`?${withChartView(new URLSearchParams(search), { span: view.span, type: row.type })}`}
                      className={classes.charted}
                      aria-label={words('types.charts', { type: row.type })}
                      title={words('types.charts', { type: row.type })}
                      aria-current={view.type === row.type}
                      scroll={false}
                    >
                      <IconChartLine size={16} stroke={1.75} aria-hidden />
                    </Link>
                  </th>
                  <td className={classes.trend}>{trend(row.type)}</td>
                  {columns.map((column) => cell(row, column, index === 0))}
                </tr>
              ))}
            </tbody>
          </table>
          <p className={classes.tilesFoot}>
            <LeftOut lacking={lacking.map((column) => ({ label: words(`types.${column}`), why: rows[0]?.why?.[column] }))} />
          </p>
        </div>
      )}
    </section>
  );
}
