/** Entry points of detection: the outboxes of a database, and one of them in detail. Reads only, on the reader's connection. */
import type { Config } from '@/lib/config/config';
import type { CatalogueTable } from '@/lib/database/catalogue';
import type { Database } from '@/lib/database/database';
import type { Engine } from '@/lib/database/engine';
import { tableParts } from '@/lib/shape/schema/names';
import type { Candidate, Caution, Detection, Examination, Sample, StatusWord } from '@/lib/shared/detection';
import { Problem } from '@/lib/shared/problems';
import type { LiveState } from '@/lib/shared/states';
import { findCandidates, type Found } from './candidates';
import { expectedFailure } from './failure';
import { tableText } from './names';
import { proposeOwn, proposeShape, type Proposal, type ProposeOptions } from './propose';
import { readColumns, readThrough, type ColumnsRead, type DeadRead } from './read';
import { proposeWords, rolesOf } from './roles';

const MOST_TABLES = 20_000;
/** Thousands of tables take a busy server seconds; below the client's timeout. */
const CATALOGUE_MS = 7_500;

export interface ScanOptions {
  schema?: string;
  shape?: string;
  /** Ids of the outboxes configured for this database, by table as `schema.table`. */
  configured?: ReadonlyMap<string, string>;
}

export interface ExamineOptions extends ProposeOptions {
  rows: number;
  /** States a person has confirmed for status words; null for a word that stays unmapped. */
  confirmed: Readonly<Record<string, LiveState | null>>;
}

/** Ids of the outboxes configured for a database, by table as written: `schema.table`, or `table` without a schema. */
export function configuredTables(config: Pick<Config, 'outboxes'>, database: string): Map<string, string> {
  return new Map(
    config.outboxes
      .filter((outbox) => outbox.database === database)
      .map(({ id, table }) => {
        const { schema, table: name } = tableParts(table);
        return [schema === null ? name : `${schema}.${name}`, id];
      }),
  );
}

/** The candidates of a database, by its catalogue alone. Throws DatabaseFailure. */
export async function detectOutboxes(database: Database, options: ScanOptions = {}): Promise<Detection> {
  const { found, ...seen } = await scan(database, options);
  return detectionOf(database, seen, found);
}

function detectionOf({ id, engine }: Database, { tables, cut }: Omit<Scan, 'found'>, found: { candidate: Candidate }[]): Detection {
  return { database: id, engine: engine.key, tables: tables.length, cut, candidates: found.map(({ candidate }) => candidate) };
}

/** The candidates, each examined, one after the other. Throws DatabaseFailure if the scan fails. */
export async function detectAndExamine(database: Database, options: ScanOptions, each: Omit<ExamineOptions, 'confirmed'>) {
  const { found, ...seen } = await scan(database, options);
  const examinations: Examination[] = [];
  const taken = [...each.taken];
  for (const one of found) {
    const { id, examination } = await examine(database, one, seen.tables, { ...each, taken, confirmed: {} });
    taken.push(id);
    examinations.push(examination);
  }
  return { detection: detectionOf(database, seen, examinations), examinations };
}

/** Examines one candidate. Throws Problem `not_found` if the table is none, DatabaseFailure if the scan fails. */
export async function examineTable(database: Database, { schema, table }: Candidate['name'], options: ScanOptions, how: ExamineOptions) {
  const { tables, found } = await scan(database, { ...options, schema });
  const one = found.find(({ candidate: { name } }) => name.schema === schema && name.table === table);
  if (one === undefined) throw new Problem('not_found', `No outbox was found in ${schema}.${table}: it may be gone, or have changed`);
  return (await examine(database, one, tables, how)).examination;
}

type Scan = Awaited<ReturnType<typeof scan>>;

async function scan(database: Database, { schema, shape, configured = new Map() }: ScanOptions) {
  const { engine } = database;
  const reader = engine.catalogue;
  const read = await database.read((db) => reader.tables(db, MOST_TABLES + 1, schema ?? null), { statementMs: CATALOGUE_MS });
  const tables = read.slice(0, MOST_TABLES).filter(({ name }) => !isOwn(engine, name));
  const found = findCandidates(tables, { engine: engine.key, configured });
  const wanted = shape === undefined ? found : found.filter(({ candidate }) => candidate.shape === shape);
  return { tables, cut: read.length > MOST_TABLES, found: wanted };
}

/** True for the console's own tables: by their schema, or by their prefix if a schema is a database. */
const isOwn = ({ companions }: Engine, { schema, table }: CatalogueTable['name']): boolean =>
  companions.schema === null ? table.startsWith(companions.prefix) : schema === companions.schema;

interface Examined {
  examination: Examination;
  /** The outbox's id in the YAML; '' without YAML. */
  id: string;
  dead: DeadRead;
}

/** A bounded read of columns, then of at most 200 newest rows through the mapping. Throws only bugs of the console. */
async function examine(database: Database, found: Found, tables: readonly CatalogueTable[], options: ExamineOptions): Promise<Examined> {
  const { candidate, generic, table } = found;
  const asShape =
    candidate.shape === null ? null : await tryOut(database, candidate, proposeShape(found, candidate.shape, options), options);
  // If most rows match no state, or its dead letters are copies, the columns are the shape's but the relay is not: a mapping of its own is proposed.
  const isCertain = generic === null || candidate.confidence === 'certain';
  if (asShape !== null && asShape.dead?.twice !== true && (isCertain || !mostlyUnmapped(asShape.examination)))
    return warned(asShape, deadOthers(asShape));
  const roles = generic?.roles ?? rolesOf(table);
  const read = (await readColumns(database, candidate.name, roles).catch(expectedFailure)) ?? { code: 'missing', detail: null };
  if ('code' in read)
    return { examination: { candidate, roles: [], status: null, sample: null, problem: read, yaml: '' }, id: '', dead: null };
  const words = withConfirmed(proposeWords(read.words), options.confirmed);
  const attempt = async (own: Candidate): Promise<Examined> => {
    const beside = own.companions.filter(({ purpose }) => purpose === 'dead').map((one) => one.table);
    const dead = tables.filter(({ name }) => beside.includes(tableText(name)));
    const tried = await tryOut(database, own, proposeOwn(table, { ...read, roles, words, dead }, options), options);
    return tried.dead?.twice === true ? attempt(withoutDead(tried)) : tried;
  };
  const examined = await attempt(asShape === null ? candidate : withoutShape(candidate));
  const toConfirm = words.some(({ sure }) => !sure) || (roles.status !== undefined && words.length === 0);
  const status = roles.status === undefined ? null : { column: roles.status.name, words, complete: read.complete, looked: read.looked };
  return warned(examined, [...cautionsOf(examined.examination, read, toConfirm), ...deadOthers(examined)], status);
}

function warned({ examination, ...rest }: Examined, cautions: Caution[], status: Examination['status'] = null): Examined {
  const candidate = { ...examination.candidate, cautions: [...examination.candidate.cautions, ...cautions] };
  return { ...rest, examination: { ...examination, status, candidate: withRows(candidate, examination.sample, status?.looked ?? 0) } };
}

/** Leaves out a dead-letter table that holds copies. */
function withoutDead(examined: Examined): Candidate {
  const { candidate } = examined.examination;
  const companions = candidate.companions.map((one) => (isRead(examined, one.table) ? { ...one, purpose: 'other' as const } : one));
  const caution: Caution = { code: 'dead_copies', values: { table: examined.dead?.table ?? '' } };
  return { ...candidate, companions, cautions: [...candidate.cautions, caution] };
}

const isRead = ({ examination: { candidate }, dead }: Examined, table: string): boolean =>
  dead !== null && table === tableText({ ...candidate.name, table: dead.table });

/** Dead-letter tables beside it that are not read. */
function deadOthers(examined: Examined): Caution[] {
  const { candidate, problem } = examined.examination;
  const others = candidate.companions.filter((one) => one.purpose === 'dead' && !isRead(examined, one.table));
  if (problem !== null || others.length === 0) return [];
  return [{ code: 'dead_others', values: { tables: others.map(({ table }) => table).join(', ') } }];
}

const mostlyUnmapped = ({ sample }: Examination): boolean => sample !== null && sample.looked > 0 && sample.unmapped * 2 > sample.looked;

async function tryOut(database: Database, candidate: Candidate, proposal: Proposal, { rows }: ExamineOptions): Promise<Examined> {
  const { id, yaml } = proposal;
  const examination: Examination = { candidate, roles: [], status: null, sample: null, problem: null, yaml };
  try {
    const { dead, ...read } = await readThrough(database, yaml, rows);
    return { id, dead, examination: { ...examination, ...read } };
  } catch (error) {
    return { id, dead: null, examination: { ...examination, problem: expectedFailure(error) } };
  }
}

/** An estimate of fewer rows than were seen is none. */
function withRows(candidate: Candidate, sample: Sample | null, forWords: number): Candidate {
  const { looked, dead, all } = sample ?? { looked: 0, dead: 0, all: false };
  const estimate = (candidate.estimatedRows ?? 0) < Math.max(looked - dead, forWords) ? null : candidate.estimatedRows;
  return { ...candidate, counted: all, estimatedRows: all ? looked - dead : estimate };
}

function withConfirmed(words: StatusWord[], confirmed: ExamineOptions['confirmed']): StatusWord[] {
  return words.map((word) => {
    const state = Object.hasOwn(confirmed, word.word) ? confirmed[word.word] : undefined;
    return state === undefined ? word : { ...word, state, sure: true };
  });
}

function withoutShape(candidate: Candidate): Candidate {
  const caution: Caution = { code: 'other_words', values: { shape: candidate.label ?? '' } };
  const cautions = [...candidate.cautions.filter(({ code }) => code !== 'assumed'), caution];
  return { ...candidate, shape: null, label: null, confidence: 'possible', cautions };
}

function cautionsOf({ roles }: Examination, { description }: ColumnsRead, toConfirm: boolean): Caution[] {
  const cautions: Caution[] = [];
  if (toConfirm) cautions.push({ code: 'words_to_confirm', values: {} });
  if (!description.indexes.some((index) => index.unique && index.predicate === null)) cautions.push({ code: 'no_key', values: {} });
  if (roles.length > 0 && !roles.some(({ role }) => role === 'createdAt')) cautions.push({ code: 'no_created_at', values: {} });
  const zoneless = [...description.columns].flatMap(([name, { kind }]) => (kind === 'wall_clock' ? name : []));
  const columns = zoneless.filter((name) => roles.some(({ column }) => column === name));
  if (columns.length > 0) cautions.push({ code: 'time_zone', values: { columns: columns.join(', ') } });
  return cautions;
}
