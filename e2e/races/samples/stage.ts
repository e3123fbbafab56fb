/**
 * A race on any shape, from its samples alone: its tables filled with copies of the sample rows, and what is needed to take a
 * row from what one sample row looks like to what another does, as the library behind the shape would.
 */
import type { Random } from '@/demo/random';
import type { Connection } from '@/demo/database/service';
import type { ColumnDescription } from '@/lib/database/description';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import { idParts } from '@/lib/outbox/rows/row-id';
import { kindOf, type ColumnRole, type Shape } from '@/lib/shape/shape';
import { amendment } from '@/scripts/testing/amend';
import { ENGINES, type AnyTestDatabase } from '@/scripts/testing/outbox';
import { watched } from '../history';
import { type Image, type WatchedTable } from '../witness';
import { COPY, layOut, NOTE, variedColumns, type Sample } from './tables';

/** A row as it was read: what it looks like, as text, to find out later whether it still does. */
export interface SeenRow {
  id: string;
  text: string;
  image: Image;
}

export interface Stage {
  outbox: Outbox;
  shape: Shape;
  main: WatchedTable;
  samples: Sample[];
  /** The relay deletes what it has published. */
  publishedIsGone: boolean;
  /** What the samples say of a row: its state, null for a row that no sample looks like. */
  stateOf(image: Image): string | null;
  /** All rows of the outbox table. */
  rows(connection: Connection): Promise<SeenRow[]>;
  /** Puts in a copy of a sample of the outbox table. */
  insert(connection: Connection, sample: Sample, random: Random): Promise<void>;
  /** Makes the row look like the sample, if it still is what was seen; true when it was. */
  become(connection: Connection, seen: SeenRow, sample: Sample): Promise<boolean>;
  /** Moves the row into the dead-letter table, what is only there being as in the sample; true when it was as seen. */
  bury(connection: Connection, seen: SeenRow, sample: Sample): Promise<boolean>;
  remove(connection: Connection, seen: SeenRow): Promise<boolean>;
  /** Gives the row another content and leaves its state alone; true when it was as seen. */
  amend(connection: Connection, seen: SeenRow): Promise<boolean>;
  /** Holds the row until the end of the transaction, unless somebody else does; true when it is what was seen. */
  hold(connection: Connection, seen: SeenRow): Promise<boolean>;
}

/** What an event is about, which no relay changes. */
const CONTENT: ColumnRole[] = [
  'sequence',
  'type',
  'topic',
  'aggregateType',
  'aggregateId',
  'orderingKey',
  'createdAt',
  'dedupKey',
  'traceId',
  'payload',
  'headers',
];
/** The server's clock in columns that know their zone, and in those that are UTC without saying so. */
const NOW = {
  postgres: { instant: 'now()', wall_clock: "(now() AT TIME ZONE 'UTC')" },
  mysql: { instant: 'utc_timestamp(6)', wall_clock: 'utc_timestamp(6)' },
};
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Numbers of the race's own begin here, beyond those of the samples that are small. */
const FIRST_NUMBER = 1_000_000;

export async function createStage(database: AnyTestDatabase, shape: Shape, outbox: Outbox): Promise<Stage> {
  const { engine } = database;
  const { identifier } = ENGINES[engine].quote;
  const main = watched(engine, outbox.main);
  // Rows that come with the tables are no events: the library's own marks.
  const marks = (await database.query<{ id: string }>(`SELECT ${main.id('t')} AS id FROM ${main.name} t`)).map(({ id }) => id);
  const samples = await layOut(database, shape, outbox);
  const writable = (place: Place): ColumnDescription[] => [...place.description.columns.values()].filter(({ generated }) => !generated);
  const varied = variedColumns(outbox.main, samples);
  const content = new Set([
    ...outbox.main.id.map(({ name }) => name),
    ...varied,
    ...CONTENT.flatMap((role) => {
      const bound = role === 'id' ? undefined : outbox.main.roles[role];
      return bound === undefined || bound.join !== null || bound.constant !== null ? [] : [bound.column.name];
    }),
  ]);
  const states = writable(outbox.main).filter(({ name }) => !content.has(name) && name !== NOTE);
  const ages = new Set(
    states.filter(({ name, kind }) => (kind === 'instant' || kind === 'wall_clock') && ageColumns(shape).has(name)).map(({ name }) => name),
  );
  const given = (parameter: number, { kind, type }: ColumnDescription): string =>
    engine === 'postgres' ? `$${parameter}::text::${type}` : kind === 'binary' ? `unhex($${parameter})` : `$${parameter}`;
  /** The row of this id, by its key; its parts are parameters from `from` on. */
  const keyIs = (alias: string, from: number): string =>
    outbox.main.id.map((column, index) => `${alias}.${identifier(column.name)} = ${given(from + index, column)}`).join(' AND ');
  const partsOf = (id: string): string[] => idParts(id, outbox.main.id.length) ?? [];
  const keys = outbox.main.id.length;
  // Byte by byte; the two have no digest in common.
  const digest = (text: string): string => (engine === 'postgres' ? `md5(${text})` : `sha2(${text}, 256)`);
  const asSeen = (alias: string, parameter: number): string => `${digest(main.image(alias))} = ${digest(`$${parameter}`)}`;
  const names = (columns: ColumnDescription[]): string => columns.map(({ name }) => identifier(name)).join(', ');
  const overriding = ENGINES[engine].features.overridingSystemValue ? ' OVERRIDING SYSTEM VALUE' : '';
  let count = 0;

  const fresh = ({ kind }: ColumnDescription, was: string, random: Random): string => {
    if (kind === 'integer') return String(FIRST_NUMBER + count);
    if (kind === 'binary') return random.hex(was.length);
    return kind === 'uuid' || UUID.test(was) ? random.uuid() : `race-${count}`;
  };
  const sampleIs = (parameter: number): string => `${watched(engine, { ...outbox.main, key: 'main' }).id('s')} = $${parameter}`;

  const remove: Stage['remove'] = async (connection, { id, text }) => {
    const { rowCount } = await connection.query(
      `DELETE ${engine === 'mysql' ? 't ' : ''}FROM ${main.name} ${engine === 'mysql' ? 'AS ' : ''}t WHERE ${keyIs('t', 1)} AND ${asSeen('t', keys + 1)}`,
      [...partsOf(id), text],
    );
    return rowCount === 1;
  };

  const hold: Stage['hold'] = async (connection, { id, text }) => {
    const { rows } = await connection.query<{ image: string }>(
      `SELECT ${main.image('t')} AS image FROM ${main.name} t WHERE ${keyIs('t', 1)} FOR UPDATE SKIP LOCKED`,
      partsOf(id),
    );
    return rows[0]?.image === text;
  };

  return {
    outbox,
    shape,
    main,
    samples,
    publishedIsGone: kindOf(shape) === 'presence' || samples.every(({ state }) => state === 'dead'),
    stateOf(image) {
      const alike = samples.filter(
        ({ place, image: other }) => place === 'main' && states.every(({ name }) => other[name] === image[name]),
      );
      const [state, ...others] = new Set(alike.map((sample) => sample.state));
      return state === undefined || others.length > 0 ? null : state;
    },
    async rows(connection) {
      const { rows } = await connection.query<{ id: string; image: string }>(
        `SELECT ${main.id('t')} AS id, ${main.image('t')} AS image FROM ${main.name} t`,
      );
      return rows.flatMap(({ id, image }) => (marks.includes(id) ? [] : [{ id, text: image, image: JSON.parse(image) as Image }]));
    },
    async insert(connection, sample, random) {
      count += 1;
      const values: string[] = [];
      const columns = writable(outbox.main);
      const expressions = columns.map((column) => {
        const was = sample.image[column.name] ?? null;
        if (!varied.has(column.name) || was === null) return `s.${identifier(column.name)}`;
        values.push(fresh(column, was, random));
        return given(values.length, column);
      });
      const { rowCount } = await connection.query(
        `INSERT INTO ${main.name} (${names(columns)})${overriding} SELECT ${expressions.join(', ')} FROM ${COPY.main} s WHERE ${sampleIs(values.length + 1)}`,
        [...values, sample.id],
      );
      if (rowCount !== 1) throw new Error(`no copy of sample ${sample.id}`);
    },
    async become(connection, { id, text }, sample) {
      count += 1;
      // A third of the claims are of just now: too young for what is only done to old ones.
      const young = count % 3 === 0;
      const value = ({ name, kind }: ColumnDescription): string =>
        young && ages.has(name) && sample.image[name] !== null
          ? NOW[engine][kind === 'instant' ? 'instant' : 'wall_clock']
          : `s.${identifier(name)}`;
      const set = (left: string): string =>
        [...states.map((column) => `${left}${identifier(column.name)} = ${value(column)}`), `${left}${NOTE} = ${count}`].join(', ');
      const where = `${keyIs('t', 1)} AND ${asSeen('t', keys + 1)} AND ${sampleIs(keys + 2)}`;
      const { rowCount } = await connection.query(
        engine === 'postgres'
          ? `UPDATE ${main.name} t SET ${set('')} FROM ${COPY.main} s WHERE ${where}`
          : `UPDATE ${main.name} t JOIN ${COPY.main} s SET ${set('t.')} WHERE ${where}`,
        [...partsOf(id), text, sample.id],
      );
      return rowCount === 1;
    },
    async bury(connection, seen, sample) {
      const { dead } = outbox;
      // Held first: what a relay moves, nobody else changes between the copy and the end of what was copied.
      if (dead === null || !(await hold(connection, seen))) return false;
      const map = shape.dead?.map ?? {};
      const columns = writable(dead);
      const values = columns.map(({ name }) => {
        const ours = map[name] ?? name;
        return outbox.main.description.columns.has(ours) ? `t.${identifier(ours)}` : `s.${identifier(name)}`;
      });
      const there = watched(engine, dead);
      const { rowCount } = await connection.query(
        `INSERT INTO ${there.name} (${names(columns)})${overriding} SELECT ${values.join(', ')} FROM ${main.name} t, ${COPY.dead} s
          WHERE ${keyIs('t', 1)} AND ${asSeen('t', keys + 1)} AND ${there.id('s')} = $${keys + 2}`,
        [...partsOf(seen.id), seen.text, sample.id],
      );
      return rowCount === 1 && (await remove(connection, seen));
    },
    remove,
    async amend(connection, { id, text }) {
      count += 1;
      const content = amendment(engine, outbox.main, count);
      if (content === null) return false;
      const { rowCount } = await connection.query(
        `UPDATE ${main.name}${engine === 'mysql' ? ' AS' : ''} t SET ${content} WHERE ${keyIs('t', 1)} AND ${asSeen('t', keys + 1)}`,
        [...partsOf(id), text],
      );
      return rowCount === 1;
    },
    hold,
  };
}

/** Columns by whose age a claim is judged. */
function ageColumns(shape: Shape): Set<string> {
  return new Set(
    Object.values(shape.operations)
      .flatMap((rules) => (Array.isArray(rules) ? rules : []))
      .flatMap((rule) => ('version' in rule && rule.olderThanStuckAfter !== undefined ? [rule.olderThanStuckAfter] : [])),
  );
}
