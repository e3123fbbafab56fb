/** A row of a wanted state that nobody but this transaction ever sees. */
import { sql, type RawBuilder } from 'kysely';
import type { ColumnDescription } from '@/lib/database/engine';
import { lastCounted } from '@/lib/database/roles';
import { tableRef } from '@/lib/database/table-ref';
import type { DatabaseFailure } from '@/lib/database/failure';
import type { TableRules } from '@/lib/database/table-rules';
import type { Place } from '@/lib/outbox/outbox';
import { idText } from '@/lib/outbox/row-id';
import type { ProofUntried } from '@/lib/shared/proofs';
import { attempt, type Attempt, type Bench } from './bench';
import { cellSql, freshValue, NoValue } from './cells';
import { plain, type Cell, type Cells } from './solve';
import { said } from './said';

export type Made = { made: true; id: string; copied: boolean } | { made: false; because: ProofUntried; detail: string | null };

type Fits = (id: string) => Promise<string | null>;

const TRIES_MAX = 40;

/**
 * Inserts the first of these rows that the table takes and that `fits`. Where the table refuses every value we could think of,
 * what a row must hold beside is copied from one that is there.
 */
export async function makeRow(bench: Bench, place: Place, solutions: Cells[], fits: Fits): Promise<Made> {
  const thought = await firstTaken(bench, place, solutions, fits);
  if (thought.made || !['refused_row', 'cannot_make'].includes(thought.because)) return thought;
  const template = await copiedCells(bench, place);
  if (template.size === 0) return thought;
  const copied = await firstTaken(
    bench,
    place,
    solutions.map((cells) => new Map([...template, ...cells])),
    fits,
  );
  return copied.made ? { ...copied, copied: true } : copied;
}

async function firstTaken(bench: Bench, place: Place, solutions: Cells[], fits: Fits): Promise<Made> {
  const rules = place.key === 'dead' ? bench.rules.dead : bench.rules.main;
  let last: Made = { made: false, because: 'cannot_make', detail: null };
  let tries = 0;
  for (const cells of solutions) {
    // A check may know the values of a column that no rule of the mapping speaks of.
    for (const more of cellsOfChecks(place, rules, cells)) {
      tries += 1;
      if (tries > TRIES_MAX) return last;
      const tried = await tryRow(bench, place, rules, new Map([...more, ...cells]), fits);
      if (tried.made) return tried;
      last = tried;
      if (tried.because !== 'refused_row') return tried;
    }
  }
  return last;
}

/** What some row of the table holds in the columns that have to hold something and are no keys. */
async function copiedCells(bench: Bench, place: Place): Promise<Cells> {
  const { fragments } = bench.outbox.database.engine;
  const rules = place.key === 'dead' ? bench.rules.dead : bench.rules.main;
  const keys = keyColumns(place);
  const columns = [...place.description.columns.values()].filter(
    ({ name, nullable, generated }) => !nullable && !generated && !keys.has(name) && rules?.columns.get(name)?.counted !== true,
  );
  if (columns.length === 0) return new Map();
  const parts = columns.map((column, index) => sql`${fragments.asText(sql.id(column.name), column)} as ${sql.id(`c${index}`)}`);
  const asked = await attempt(bench, 'keep', () =>
    bench.asMaker(
      async () =>
        (await sql<Record<string, string>>`select ${sql.join(parts)} from ${tableRef(place.table)} limit 1`.execute(bench.db)).rows[0],
    ),
  );
  const row = asked.ok ? asked.value : undefined;
  if (row === undefined) return new Map();
  return new Map(columns.map(({ name }, index): [string, Cell] => [name, { value: row[`c${index}`] ?? '' }]));
}

/** A row that the table took and that is none of those wanted. */
class Unfit extends Error {}

async function tryRow(bench: Bench, place: Place, rules: TableRules | null, cells: Cells, fits: Fits): Promise<Made> {
  let values: Map<string, RawBuilder<unknown>>;
  try {
    const parents = await parentValues(bench, place, rules, cells);
    if (!parents.found) return { made: false, because: 'foreign_key', detail: parents.key };
    values = valuesOf(bench, place, rules, cells, parents.values);
  } catch (error) {
    if (error instanceof NoValue) return { made: false, because: 'cannot_make', detail: error.message };
    throw error;
  }
  const names = [...values.keys()];
  let inserted: Attempt<string>;
  try {
    inserted = await attempt(bench, 'keep', async () => {
      const id = await bench.asMaker(() => insert(bench, place, names, values));
      const misfit = await fits(id);
      if (misfit !== null) throw new Unfit(misfit);
      return id;
    });
  } catch (error) {
    if (error instanceof Unfit) return { made: false, because: 'refused_row', detail: error.message };
    throw error;
  }
  return inserted.ok ? { made: true, id: inserted.value, copied: false } : refused(inserted.failure);
}

/** Answers the id of the row. */
async function insert({ outbox, db }: Bench, place: Place, names: string[], values: Map<string, RawBuilder<unknown>>): Promise<string> {
  const { features, fragments } = outbox.database.engine;
  await sql`insert into ${tableRef(place.table)} (${sql.join(names.map((name) => sql.id(name)))})${sql.raw(
    features.overridingSystemValue ? ' overriding system value' : '',
  )} values (${sql.join([...values.values()])})`.execute(db);
  const parts = place.id.map(
    (column, index) =>
      sql`${fragments.asText(values.get(column.name) ?? lastCounted(outbox.database.engine.key), column)} as ${sql.id(`c${index}`)}`,
  );
  const { rows } = await sql<Record<string, string>>`select ${sql.join(parts)}`.execute(db);
  return idText(place.id.map((_, index) => rows[0]?.[`c${index}`] ?? ''));
}

function refused(failure: DatabaseFailure): Made {
  if (failure.code === 'no_privilege') return { made: false, because: 'no_insert_right', detail: said(failure) };
  return { made: false, because: 'refused_row', detail: said(failure) };
}

/** Values for every column that has to be named: those of the rules, keys, parents, and what is required without a default. */
function valuesOf(
  { outbox }: Bench,
  place: Place,
  rules: TableRules | null,
  cells: Cells,
  parents: Map<string, string>,
): Map<string, RawBuilder<unknown>> {
  const { fragments } = outbox.database.engine;
  const keys = keyColumns(place);
  const values = new Map<string, RawBuilder<unknown>>();
  for (const column of place.description.columns.values()) {
    if (column.generated) continue;
    const own = rules?.columns.get(column.name);
    const cell = cells.get(column.name);
    const parent = parents.get(column.name);
    if (cell !== undefined) values.set(column.name, cellSql(outbox, column, own, cell));
    else if (parent !== undefined) values.set(column.name, fragments.typed(parent, column));
    else if (own?.followsGiven === true && /unsigned/i.test(column.type)) continue;
    else if (isId(place, column)) values.set(column.name, fragments.typed(freshValue(column, own), column));
    else if (own?.counted === true) values.set(column.name, fragments.typed(freshValue(column, own), column));
    else if (column.nullable || (own?.default ?? null) !== null) continue;
    else if (keys.has(column.name)) values.set(column.name, fragments.typed(freshValue(column, own), column));
    else values.set(column.name, cellSql(outbox, column, own, plain(column)));
  }
  return values;
}

const isId = (place: Place, column: ColumnDescription): boolean => place.id.some(({ name }) => name === column.name);

function keyColumns(place: Place): Set<string> {
  return new Set(place.description.indexes.filter((index) => index.unique).flatMap((index) => index.columns));
}

/** A row that exists for each foreign key that must not be empty. */
async function parentValues(
  bench: Bench,
  place: Place,
  rules: TableRules | null,
  cells: Cells,
): Promise<{ found: true; values: Map<string, string> } | { found: false; key: string }> {
  const values = new Map<string, string>();
  for (const key of rules?.foreignKeys ?? []) {
    const open = key.columns.filter((name) => !cells.has(name));
    const required = key.columns.every(
      (name) => place.description.columns.get(name)?.nullable === false && (rules?.columns.get(name)?.default ?? null) === null,
    );
    if (!required || open.length === 0) continue;
    const parts = key.references.map(
      (name, index) => sql`${bench.outbox.database.engine.fragments.asText(sql.id(name))} as ${sql.id(`c${index}`)}`,
    );
    const asked = await attempt(bench, 'keep', () =>
      bench.asMaker(
        async () =>
          (await sql<Record<string, string>>`select ${sql.join(parts)} from ${tableRef(key.table)} limit 1`.execute(bench.db)).rows[0],
      ),
    );
    const row = asked.ok ? asked.value : undefined;
    if (row === undefined) return { found: false, key: key.name };
    for (const [index, name] of key.columns.entries()) values.set(name, row[`c${index}`] ?? '');
  }
  return { found: true, values };
}

const LITERAL = /'((?:[^']|'')*)'/g;
const NUMBER = /(?<![\w'.])-?\d+(?:\.\d+)?(?![\w'])/g;
const LITERALS_MAX = 6;
const SETS_MAX = 12;

/**
 * What checks name for columns of which nothing else is known, one set after the other: `CHECK (kind IN ('mail', 'push'))` is
 * passed by its own words more often than by ours, and `CHECK ((done_at IS NULL) = (state <> 2))` by a value where we had none.
 */
function cellsOfChecks(place: Place, rules: TableRules | null, cells: Cells): Cells[] {
  const byColumn = new Map<string, Cell[]>();
  for (const check of rules?.checks ?? []) {
    for (const name of check.columns) {
      const column = place.description.columns.get(name);
      if (column === undefined || column.generated || cells.has(name)) continue;
      byColumn.set(name, [...(byColumn.get(name) ?? []), ...cellsOfCheck(column, check.text)].slice(0, LITERALS_MAX));
    }
  }
  let sets: Cells[] = [new Map()];
  for (const [name, choices] of byColumn) {
    const column = place.description.columns.get(name);
    const withOne = choices.flatMap((cell) => sets.map((set) => new Map(set).set(name, cell)));
    // Nothing at all comes first where the column may be empty, and last where it may not.
    sets = column?.nullable === true ? [...sets, ...withOne] : [...withOne, ...sets];
  }
  return sets.slice(0, SETS_MAX);
}

function cellsOfCheck(column: ColumnDescription, text: string): Cell[] {
  // A text that has to be JSON is one where there is no type of that name.
  if (/json_valid\s*\(/i.test(text)) return [{ value: '{}' }];
  if (column.kind === 'text') return [...text.matchAll(LITERAL)].map(([, literal = '']) => ({ value: literal.replaceAll("''", "'") }));
  if (column.kind === 'integer' || column.kind === 'decimal')
    return [...text.matchAll(NUMBER)].flatMap(([number]) => [{ value: number }, { value: String(Number(number) + 1) }]);
  return column.nullable ? [plain(column)] : [];
}
