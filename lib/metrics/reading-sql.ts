import { sql } from 'kysely';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Window } from '@/lib/shared/windows';
import { AXES, baseOf, baseQuery, baseSeconds, VERDICT_SECONDS, type Axis, type Base } from './base';
import { METRICS } from './metric-registry.gen';
import { SCAN, STATES_OF, sourcesOf, type Part, type Source, type Sources } from './sources';
import { count, isState, iso, jsonObject, jsonRows, now, nullInstant, once, secondsAgo, type Figures, type Sql } from './spelling';
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
  const base = baseOf(traits);
  const scan = bounds.sources.find((source) => source.name === SCAN);
  const rows = sql.join(
    bounds.sources.map((source) => rowsOf(source, window)),
    sql` union all `,
  );
  const ctes = [
    ...bounds.sources.map((source) => sql`${sql.ref(source.name)} as materialized (${source.query})`),
    ...(scan === undefined ? [] : [sql`scan_edges as materialized (${scanEdges()})`]),
    sql`base as materialized (${baseQuery(rows, window)})`,
    sql`edges as materialized (${edges(bounds, scan ?? null)})`,
  ];
  const counts = bounds.sources.map(({ name }): [string, Sql] => [
    name,
    name === SCAN ? sql`(select n from scan_edges)` : sql`(select count(*) from ${sql.ref(name)})`,
  ]);
  const statement = sql<ReadingRow>`with ${sql.join(ctes)}
    select ${iso(now())} as as_of, ${iso(sql`(select first_known from edges)`)} as first_known, ${jsonObject(Object.fromEntries(counts))} as rows_read,
      (select ${jsonObject(figures(base))} from base) as figures,
      ${jsonRows(typesQuery(base))} as types,
      ${jsonObject(Object.fromEntries(AXES.map((axis) => [axis, jsonRows(lineQuery(base, axis))])))} as lines`;
  return { statement, sources: bounds.sources, absent: bounds.absent, traits };
}

/** The rows of a source that belong to the base. */
function rowsOf(source: Source, window: Window): Sql {
  if (source.name !== SCAN) return sql`select * from ${sql.ref(source.name)}`;
  const open = source.parts.flatMap((part) => (part === 'published' ? [] : STATES_OF[part]));
  const tests = [
    ...(open.length > 0 ? [isState(sql.ref('state'), ...open)] : []),
    ...(source.parts.includes('published') ? [sql`(${isState(sql.ref('state'), 'published')} and ${wanted(source, window)})`] : []),
  ];
  return sql`select * from scan where ${sql.join(tests, sql` or `)}`;
}

/**
 * Published rows since the start of the base. Of a scan that was cut short no figure of the window is told: it keeps
 * those of the last hour for the verdicts where it began with the newest rows, else none.
 */
function wanted(scan: Source, window: Window): Sql {
  const whole = sql`(select n from scan_edges) < ${sql.lit(scan.limit)}`;
  const verdicts = scan.ordered ? secondsAgo(VERDICT_SECONDS) : sql`'infinity'`;
  const since = once(sql`case when ${whole} then ${secondsAgo(baseSeconds(window))} else ${verdicts} end`);
  return sql`(published >= ${since} or created >= ${since})`;
}

/** What the whole scan tells beyond its rows of the base, in one pass. */
function scanEdges(): Sql {
  const published = isState(sql.ref('state'), 'published');
  return sql`select count(*) as n, min(created) as first_created, max(created) filter (where ${published}) as newest_created, max(published) filter (where ${published}) as last_published from scan`;
}

/** The ends of the table: by index where there is one, else from the scan. */
function edges({ lastPublished, frontier, firstKnown }: Sources, scan: Source | null): Sql {
  // Of a scan that was cut short only one that began with the newest rows can tell what was published last.
  const newest = (column: string): Sql => {
    if (scan === null) return nullInstant;
    const value = sql`(select ${sql.ref(column)} from scan_edges)`;
    return scan.ordered ? value : sql`case when (select n from scan_edges) < ${sql.lit(scan.limit)} then ${value} end`;
  };
  const first = [
    sql`min(created)`,
    ...(firstKnown === null ? [] : [firstKnown]),
    ...(scan === null ? [] : [sql`(select first_created from scan_edges)`]),
  ];
  return sql`select ${lastPublished ?? newest('last_published')} as last_published, least(${sql.join(first)}) as first_known,
    greatest(max(created) filter (where ${isState(sql.ref('state'), 'published')}), ${frontier ?? newest('newest_created')}) as frontier from base`;
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
    order by ${count(isState(base.state, 'pending', 'retrying', 'dead'))} desc, ${count(isState(base.state, 'published'))} desc, type
    limit ${sql.lit(TYPES_SHOWN)}`;
}

/** Rows by the step of one of their times, each metric's values in an object of its own. */
function lineQuery(base: Base, axis: Axis): Sql {
  const step = sql.ref(`${axis}_step`);
  const values = objects(METRICS.map((metric) => [metric.id, metric.lines?.(base)[axis]]));
  return sql`select ${step} as step, ${jsonObject(values)} as figures from base where ${step} is not null group by ${step}`;
}

/** Which sources a part comes from. */
export const sourcesFor = (part: Part, sources: Source[]): Source[] => sources.filter((source) => source.parts.includes(part));
