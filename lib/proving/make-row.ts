/** A row of a wanted state that nobody but this transaction ever sees. */
import { sql, type RawBuilder } from 'kysely';
import type { ColumnDescription } from '@/lib/database/engine';
import { tableRef } from '@/lib/database/table-ref';
import type { DatabaseFailure } from '@/lib/database/failure';
import type { TableRules } from '@/lib/database/table-rules';
import type { Place } from '@/lib/outbox/outbox';
import { idText } from '@/lib/outbox/row-id';
import type { ProofUntried } from '@/lib/shared/proofs';
import { attempt, type Bench } from './bench';
import { cellSql, freshValue, NoValue } from './cells';
import { plain, type Cells } from './solve';
import { said } from './said';

export type Made = { made: true; id: string } | { made: false; because: ProofUntried; detail: string | null };

const TRIES_MAX = 24;

/** Inserts the first of these rows that the table takes. */
export async function makeRow(bench: Bench, place: Place, solutions: Cells[]): Promise<Made> {
  const rules = place.key === 'dead' ? bench.outbox.rules?.dead : bench.outbox.rules?.main;
  let last: Made = { made: false, because: 'cannot_make', detail: null };
  let tries = 0;
  for (const cells of solutions) {
    // A check may know the values of a column that no rule of the mapping speaks of.
    for (const literals of checkLiterals(place, rules ?? null, cells)) {
      tries += 1;
      if (tries > TRIES_MAX) return last;
      const tried = await tryRow(bench, place, rules ?? null, cells, literals);
      if (tried.made) return tried;
      last = tried;
      if (tried.because !== 'refused_row') return tried;
    }
  }
  return last;
}

async function tryRow(bench: Bench, place: Place, rules: TableRules | null, cells: Cells, literals: Map<string, string>): Promise<Made> {
  const { outbox, db } = bench;
  const { engine } = outbox.database;
  let values: Map<string, RawBuilder<unknown>>;
  try {
    const parents = await parentValues(bench, place, rules, cells);
    if (!parents.found) return { made: false, because: 'foreign_key', detail: parents.key };
    values = valuesOf(bench, place, rules, cells, literals, parents.values);
  } catch (error) {
    if (error instanceof NoValue) return { made: false, because: 'cannot_make', detail: error.message };
    throw error;
  }
  const names = [...values.keys()];
  const inserted = await attempt(bench, 'keep', () =>
    bench.asMaker(async () => {
      await sql`insert into ${tableRef(place.table)} (${sql.join(names.map((name) => sql.id(name)))})${sql.raw(
        engine.features.overridingSystemValue ? ' overriding system value' : '',
      )} values (${sql.join([...values.values()])})`.execute(db);
      const parts = place.id.map(
        (column, index) => sql`${engine.fragments.asText(values.get(column.name) ?? sql`null`, column)} as ${sql.id(`c${index}`)}`,
      );
      const { rows } = await sql<Record<string, string>>`select ${sql.join(parts)}`.execute(db);
      return idText(place.id.map((_, index) => rows[0]?.[`c${index}`] ?? ''));
    }),
  );
  if (inserted.ok) return { made: true, id: inserted.value };
  return refused(inserted.failure);
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
  literals: Map<string, string>,
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
    const literal = literals.get(column.name);
    if (cell !== undefined) values.set(column.name, cellSql(outbox, column, own, cell));
    else if (parent !== undefined) values.set(column.name, fragments.typed(parent, column));
    else if (literal !== undefined) values.set(column.name, fragments.typed(literal, column));
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

/**
 * What checks name for required columns of which nothing else is known, one set after the other: `CHECK (kind IN ('mail',
 * 'push'))` is passed by its own words more often than by ours.
 */
function checkLiterals(place: Place, rules: TableRules | null, cells: Cells): Map<string, string>[] {
  const byColumn = new Map<string, string[]>();
  for (const check of rules?.checks ?? []) {
    for (const name of check.columns) {
      const column = place.description.columns.get(name);
      if (column === undefined || cells.has(name) || (column.nullable && !isId(place, column))) continue;
      const numeric = column.kind === 'integer' || column.kind === 'decimal';
      const texts = numeric
        ? [...check.text.matchAll(NUMBER)].flatMap(([text]) => [text, String(Number(text) + 1)])
        : [...check.text.matchAll(LITERAL)].map(([, text = '']) => text.replaceAll("''", "'"));
      if (column.kind === 'text' || numeric) byColumn.set(name, [...(byColumn.get(name) ?? []), ...texts].slice(0, LITERALS_MAX));
    }
  }
  let sets: Map<string, string>[] = [new Map()];
  for (const [name, texts] of byColumn) {
    // The table's own words first; without them last.
    sets = [...texts.flatMap((text) => sets.map((set) => new Map(set).set(name, text))), ...sets];
  }
  return sets.slice(0, LITERALS_MAX * 2);
}
