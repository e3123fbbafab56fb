/** Reads one candidate: its status words, the encoding of its times, and its newest rows through a proposed mapping. */
import type { Config } from '@/lib/config/config';
import { SUPPORTED, parseConfig } from '@/lib/config/load';
import type { CatalogueColumn, CatalogueReader } from '@/lib/database/catalogue';
import type { Database } from '@/lib/database/database';
import type { Db, TableDescription } from '@/lib/database/description';
import { bindOutbox } from '@/lib/outbox/bind';
import { directoryOptions } from '@/lib/outbox/directory';
import { contentOf } from '@/lib/outbox/rows/event-content';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { maskErrors } from '@/lib/outbox/masking/hidden-in-errors';
import { decodeVersion } from '@/lib/outbox/rows/version';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { sharedDead } from '@/lib/outbox/mapping/row-checks';
import type { Outbox } from '@/lib/outbox/outbox';
import { TIME_ROLES, VALUE_ROLES } from '@/lib/shape/schema/source';
import type { MappedRole, Sample } from '@/lib/shared/detection';
import { MASK } from '@/lib/shared/lists/shown';
import type { OutboxEvent } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { tried } from '@/lib/shared/tried';
import { claimOf, type RoleColumns, type WordEvidence } from './roles';
import { isTime } from './words';

const MOST_WORDS = 40;
const WORD_ROWS = 2_000;

type TimeSpelling = 'epoch_ms' | 'epoch_s' | 'iso';

export interface ColumnsRead {
  description: TableDescription;
  /** Words of the status column; empty if there is no such column, or no row. */
  words: WordEvidence[];
  complete: boolean;
  /** Rows without a word were seen. */
  unset: boolean;
  /** Rows in which the words were looked for. */
  looked: number;
  /** Encoding of times in columns whose type does not show it; null if the values are no times. */
  times: Partial<Record<(typeof TIME_ROLES)[number], TimeSpelling | null>>;
  /** Columns in which 0, or a time before 1971, stands for none. */
  zeros: ReadonlySet<string>;
}

type TextRows = Record<string, string | null>[];

/** A table's description and samples of columns, in one transaction; null if the role sees no such table. Throws DatabaseFailure. */
export function readColumns(database: Database, name: { schema: string; table: string }, roles: RoleColumns): Promise<ColumnsRead | null> {
  return database.read(async (db) => {
    const description = await database.engine.describe(db, name);
    if (description === null) return null;
    const reader = database.engine.catalogue;
    const odd = TIME_ROLES.filter((role) => roles[role] !== undefined && !isTime(roles[role]));
    const markers = [roles.publishedAt, roles.diedAt, claimOf(roles)];
    const wanted = [roles.status, ...markers, ...odd.map((role) => roles[role])].flatMap((column) => column?.name ?? []);
    const sample = wanted.length === 0 ? [] : await reader.sampleRows(db, description, [...new Set(wanted)], WORD_ROWS);
    return {
      description,
      looked: sample.length,
      times: Object.fromEntries(odd.map((role) => [role, spellingOf(sample, roles[role])])),
      zeros: new Set(markers.flatMap((column) => (column !== undefined && hasZeros(sample, column) ? [column.name] : []))),
      ...(await wordsIn(db, reader, description, sample, roles)),
    };
  });
}

async function wordsIn(db: Db, reader: CatalogueReader, description: TableDescription, sample: TextRows, roles: RoleColumns) {
  const { status, publishedAt } = roles;
  if (status === undefined) return { words: [], complete: true, unset: false };
  const indexed = await reader.indexedValues(db, description, status.name, MOST_WORDS + 1);
  const common = indexed === null ? await reader.commonValues(db, description, status.name) : [];
  const sampled = sample.flatMap((row) => row[status.name] ?? []);
  const words = [...new Set([...(status.labels ?? []), ...(indexed ?? []), ...common, ...sampled])].slice(0, MOST_WORDS);
  const rowsOf = (word: string): TextRows => sample.filter((row) => row[status.name] === word);
  return {
    unset: sample.some((row) => row[status.name] === null),
    words: words.map((word) => ({
      word,
      rows: rowsOf(word).length,
      published: publishedAt === undefined ? null : rowsOf(word).filter((row) => !isNone(row[publishedAt.name], publishedAt)).length,
    })),
    complete: status.labels !== null || (indexed !== null && indexed.length <= MOST_WORDS) || sample.length < WORD_ROWS / 2,
  };
}

const MS = { from: 1e12, to: 1e13 };
const SECONDS = { from: 1e9, to: 1e10 };
const ISO = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/;

/** A value that stands for none: an empty text, the number 0, a zero date and other times before 1971. */
const isNone = (value: string | null | undefined, column: CatalogueColumn): boolean =>
  value == null || (isTime(column) ? value < '1971' : value === '' || value === '0');

const hasZeros = (sample: TextRows, column: CatalogueColumn): boolean =>
  (column.kind === 'integer' || isTime(column)) &&
  (!column.nullable || sample.some(({ [column.name]: value }) => value !== null && isNone(value, column)));

/** By the range of the values: 1e12 ms and 1e9 s are both in 2001. Without values, by the column's type. */
function spellingOf(sample: TextRows, column: CatalogueColumn | undefined): TimeSpelling | null {
  if (column === undefined) return null;
  const values = sample.flatMap((row) => row[column.name] ?? []).filter((value) => value !== '0' && value !== '');
  if (column.kind === 'text') return values.every((value) => ISO.test(value)) ? 'iso' : null;
  const numbers = values.map(Number);
  const within = ({ from, to }: { from: number; to: number }): boolean => numbers.every((number) => number >= from && number < to);
  if (numbers.length === 0 && !/^big/i.test(column.type)) return 'epoch_s';
  if (within(MS)) return 'epoch_ms';
  return within(SECONDS) ? 'epoch_s' : null;
}

const COUNTED_ROWS = 200;
const PAYLOAD_CHARACTERS = 400;
const PAYLOAD_DEPTH = 2;

/** The dead-letter table that is read; `twice`: its events are in the outbox too. */
export type DeadRead = { table: string; twice: boolean } | null;
type Reading = { dead: DeadRead; roles: MappedRole[]; sample: Sample };

/** Reads the newest rows through the proposed YAML. Throws Problem if the mapping does not fit, DatabaseFailure if the database fails. */
export async function readThrough(database: Database, yaml: string, rows: number): Promise<Reading> {
  const outbox = await bindOutbox(settingsOf(configOf(database, yaml)), database);
  const stateless = outbox.shape.states.length === 0;
  const page = await listEvents(outbox, { order: 'newest' }, { limit: COUNTED_ROWS });
  const shown = await maskErrors(outbox, page.events.slice(0, rows));
  const sample = {
    rows: await Promise.all(shown.map((event) => rowOf(outbox, event))),
    looked: page.events.length,
    dead: page.events.filter(({ version }) => decodeVersion(version)?.place === 'dead').length,
    all: page.nextCursor === null && page.searched.complete && outbox.shape.rows === undefined,
    unmapped: stateless ? 0 : page.events.filter((event) => event.state === 'unmapped').length,
    stateless,
  };
  const dead = outbox.dead === null ? null : { table: outbox.dead.table.table, twice: await sharedDead(outbox) };
  return { dead, roles: mappedRoles(outbox), sample };
}

/** Parsed like a configuration file, so that the proposal can be pasted. */
export function configOf(database: Pick<Database, 'id' | 'engine'>, yaml: string): Config {
  const scheme = database.engine.key === 'mysql' ? 'mysql' : 'postgresql';
  const text = `databases:\n  ${database.id}:\n    url: ${scheme}://reader@localhost/database\n${yaml}`;
  const reading = parseConfig(text, 'proposal', SUPPORTED, () => undefined);
  if (!reading.ok) throw new Problem('invalid', reading.problems.join('; '));
  return reading.config;
}

function settingsOf(config: Config): ReturnType<typeof directoryOptions>['outboxes'][number] {
  const [settings] = directoryOptions(config).outboxes;
  if (settings === undefined) throw new Problem('invalid', 'No outbox is proposed');
  // No masks are configured yet, so everything is masked.
  return { ...settings, mask: ['payload.**', 'headers.**'] };
}

function mappedRoles({ main }: Outbox): MappedRole[] {
  const id = main.id.map(({ name, type }): MappedRole => ({ role: 'id', column: name, type }));
  const others = VALUE_ROLES.flatMap((role): MappedRole[] => {
    const { column, path = [] } = main.roles[role] ?? {};
    return column === undefined ? [] : [{ role, column: [column.name, ...path].join(' → '), type: path.length > 0 ? null : column.type }];
  });
  return [...id, ...others];
}

async function rowOf(outbox: Outbox, event: OutboxEvent): Promise<Sample['rows'][number]> {
  const stored = await getEvent(outbox, event.id);
  const payload = stored === null ? null : (await contentOf(outbox, stored, false)).payload;
  return { event, payload: payload === null || payload.binary ? null : skeleton(payload.head) };
}

/** A JSON payload with its keys but without its values; null for anything else. */
const skeleton = (text: string | null): string | null =>
  text === null ? null : (tried(() => JSON.stringify(hidden(JSON.parse(text), 0)).slice(0, PAYLOAD_CHARACTERS)) ?? null);

function hidden(value: unknown, depth: number): unknown {
  if (value === null) return null;
  if (typeof value !== 'object' || depth >= PAYLOAD_DEPTH) return MASK;
  if (Array.isArray(value)) return value.slice(0, 3).map((one) => hidden(one, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hidden(one, depth + 1)]));
}
