import { sql } from 'kysely';
import type { Outbox } from '@/lib/outbox/outbox';
import { STEP_SECONDS, WINDOW_SECONDS, type Window } from '@/lib/shared/windows';
import { baseOf, baseSeconds, type Base } from './base';
import { METRICS } from './metric-registry.gen';
import type { Line } from './metric';
import { sourcesOf, type Part, type Source, type Sources } from './sources';
import { isState, iso, jsonObject, jsonRows, now, nullInstant, secondsAgo, stepOf, type Figures, type Sql } from './spelling';
import { traitsOf, type Traits } from './traits';
import { VERDICT_RULES } from './verdict-registry.gen';

/** Event types a summary tells apart: those with most waiting and dead events, then those published most. */
export const TYPES_SHOWN = 50;

/** The one statement of a reading, and what is needed to make sense of its answer. */
export interface ReadingStatement {
  statement: Sql<ReadingRow>;
  sources: Source[];
  absent: Part[];
  traits: Traits;
}

/** JSON as the text the server sent. */
export interface ReadingRow {
  as_of: string;
  first_known: string | null;
  rows_read: string;
  figures: string;
  types: string;
  lines: string;
}

/**
 * All figures of an outbox over a window, in one statement on one snapshot. Served by whatever indexes the table has
 * (`sources.ts`), bounded by READING_ROWS rows in all, locks nothing.
 */
export function readingStatement(outbox: Outbox, window: Window): ReadingStatement {
  const traits = traitsOf(outbox);
  const bounds = sourcesOf(outbox, traits, baseSeconds(window));
  const base = baseOf(traits, window);
  const ctes = [
    ...bounds.sources.map((source) => sql`${sql.ref(source.name)} as materialized (${source.query})`),
    sql`base as materialized (select s.*, case when s.state = 'published' then greatest(0, extract(epoch from (s.published - s.created))::float8 * 1000) end as latency
      from (${sql.join(
        bounds.sources.map((source) => rowsOf(source, window)),
        sql` union all `,
      )}) as s)`,
    sql`edges as materialized (select ${lastPublished(bounds)} as last_published, ${frontier(bounds)} as frontier, ${firstKnown(bounds)} as first_known)`,
  ];
  const statement = sql<ReadingRow>`with ${sql.join(ctes)}
    select ${iso(now())} as as_of, ${iso(sql`(select first_known from edges)`)} as first_known,
      ${jsonObject(Object.fromEntries(bounds.sources.map(({ name }) => [name, sql`(select count(*) from ${sql.ref(name)})`])))} as rows_read,
      (select ${jsonObject(figures(base))} from base) as figures,
      ${jsonRows(typesQuery(base))} as types,
      ${jsonObject(lines(base, window))} as lines`;
  return { statement, sources: bounds.sources, absent: bounds.absent, traits };
}

/** The rows of a source that belong to the base. */
function rowsOf(source: Source, window: Window): Sql {
  if (source.name !== 'scan') return sql`select * from ${sql.ref(source.name)}`;
  const since = secondsAgo(baseSeconds(window));
  const open = source.parts.flatMap((part) => (part === 'waiting' ? ['pending', 'retrying'] : part === 'published' ? [] : [part]));
  const tests = [
    ...(open.length > 0 ? [isState(sql.ref('state'), ...open)] : []),
    ...(source.parts.includes('published') ? [sql`(state = 'published' and (published >= ${since} or created >= ${since}))`] : []),
  ];
  return sql`select * from scan where ${sql.join(tests, sql` or `)}`;
}

/** Of a scan that was cut short only one that began with the newest rows can tell what was published last. */
function newestInScan({ sources }: Sources, value: Sql): Sql {
  const scan = sources.find((source) => source.name === 'scan');
  if (scan === undefined) return nullInstant;
  const newest = sql`(select max(${value}) from scan where state = 'published')`;
  return scan.ordered ? newest : sql`case when (select count(*) from scan) < ${sql.lit(scan.limit)} then ${newest} end`;
}

const lastPublished = (bounds: Sources): Sql => bounds.lastPublished ?? newestInScan(bounds, sql.ref('published'));

const frontier = (bounds: Sources): Sql =>
  sql`greatest((select max(created) from base where state = 'published'), ${bounds.frontier ?? newestInScan(bounds, sql.ref('created'))})`;

function firstKnown({ sources, firstKnown: byIndex }: Sources): Sql {
  const known = [
    sql`(select min(created) from base)`,
    ...(byIndex === null ? [] : [byIndex]),
    ...(sources.some(({ name }) => name === 'scan') ? [sql`(select min(created) from scan)`] : []),
  ];
  return sql`least(${sql.join(known)})`;
}

/** One object per metric and rule: a function takes a hundred arguments at most. */
function figures(base: Base): Figures {
  const owned: [string, Figures | undefined][] = [
    ...METRICS.map((metric): [string, Figures | undefined] => [metric.id, metric.figures?.(base)]),
    ...VERDICT_RULES.map((rule): [string, Figures | undefined] => [rule.verdict, rule.figures?.(base)]),
  ];
  return objects(owned);
}

function objects(owned: [string, Figures | undefined][]): Figures {
  return Object.fromEntries(owned.flatMap(([owner, values]) => (values === undefined ? [] : [[owner, jsonObject(values)]])));
}

function typesQuery(base: Base): Sql {
  const perType = objects(METRICS.map((metric) => [metric.id, metric.perType?.(base)]));
  return sql`select type, ${jsonObject(perType)} as figures from base where type is not null group by type
    order by count(*) filter (where ${isState(base.state, 'pending', 'retrying', 'dead')}) desc, count(*) filter (where ${isState(base.state, 'published')}) desc, type
    limit ${sql.lit(TYPES_SHOWN)}`;
}

function lines(base: Base, window: Window): Figures {
  return Object.fromEntries(
    METRICS.flatMap((metric) => {
      const own = Object.entries(metric.lines?.(base) ?? {});
      return own.length === 0
        ? []
        : [[metric.id, jsonObject(Object.fromEntries(own.map(([name, line]) => [name, jsonRows(lineQuery(line, window))])))]];
    }),
  );
}

/** Rows by step. What a clock ahead of the database's dates into the future counts as now. */
function lineQuery({ at, where, values }: Line, window: Window): Sql {
  const seconds = STEP_SECONDS[window];
  const step = sql`least(${stepOf(at, seconds)}, ${stepOf(now(), seconds)})`;
  const named = Object.entries(values).map(([name, value]) => sql`${value} as ${sql.ref(name)}`);
  return sql`select ${step} as step, ${sql.join(named)} from base where ${where} and ${at} >= ${secondsAgo(WINDOW_SECONDS[window])} group by 1`;
}

/** Which sources a part comes from. */
export const sourcesFor = (part: Part, sources: Source[]): Source[] => sources.filter((source) => source.parts.includes(part));
