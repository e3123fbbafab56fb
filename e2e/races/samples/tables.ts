/** The tables of a race on a shape's samples: what is added to them, and what they begin with. */
import { sampleOf } from '@/fixtures/samples';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import type { Shape } from '@/lib/shape/shape';
import { insertRow, tableOf, type AnyTestDatabase } from '@/scripts/testing/outbox';
import { watched } from '../history';
import { type Image } from '../witness';

/**
 * A column more than the library has, in which every write of the race leaves a number: no two writes of a row are alike, and what
 * the console does with columns it knows nothing of is tried as well.
 */
export const NOTE = 'race_note';

/** Tables with the samples alone, to copy from. */
export const COPY = { main: 'race_main', dead: 'race_dead' } as const;

/** A sample row, where it stands and what it looks like. */
export interface Sample {
  id: string;
  state: string;
  place: 'main' | 'dead';
  image: Image;
}

/** Gives the tables their further column; before the console sees them. */
export async function addNotes(database: AnyTestDatabase, shape: Shape): Promise<void> {
  for (const place of shape.dead === undefined ? (['main'] as const) : (['main', 'dead'] as const))
    await database.query(`ALTER TABLE ${tableOf(shape, place, database.engine)} ADD COLUMN ${NOTE} bigint NULL`);
}

/** The samples in tables of their own, to copy from, and in the outbox's, to begin with. */
export async function layOut(database: AnyTestDatabase, shape: Shape, outbox: Outbox): Promise<Sample[]> {
  const { engine } = database;
  const samples: Sample[] = [];
  for (const place of ['main', 'dead'] as const) {
    const bound = outbox[place];
    if (bound === null) continue;
    const table = tableOf(shape, place, engine);
    await database.query(
      `CREATE TABLE ${COPY[place]} ${engine === 'postgres' ? `(LIKE ${table} INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING IDENTITY)` : `LIKE ${table}`}`,
    );
    const states = new Map<string, string>();
    for (const row of sampleOf(shape).rows.filter((one) => one.in === place)) {
      for (const name of [COPY[place], table]) await insertRow(database, name, row.values);
      const { id, image } = watched(engine, bound);
      const rows = await database.query<{ id: string; image: string }>(
        `SELECT ${id('t')} AS id, ${image('t')} AS image FROM ${COPY[place]} t`,
      );
      for (const found of rows) {
        if (states.has(found.id)) continue;
        states.set(found.id, row.state);
        samples.push({ id: found.id, state: row.state, place, image: JSON.parse(found.image) as Image });
      }
    }
  }
  return samples;
}

/** Columns in which two rows must differ: one of the key, and one of each unique index. */
export function variedColumns(place: Place, samples: Sample[]): Set<string> {
  const rows = samples.filter((sample) => sample.place === 'main');
  const variety = (name: string): number => new Set(rows.map(({ image }) => image[name])).size;
  const varied = new Set<string>();
  const add = (names: string[]): void => {
    if (names.length === 0 || names.some((name) => varied.has(name))) return;
    const [best] = [...names].sort((a, b) => variety(b) - variety(a));
    if (best !== undefined) varied.add(best);
  };
  add(place.id.map(({ name }) => name));
  for (const { unique, columns } of place.description.indexes)
    if (unique) add(columns.filter((name) => place.description.columns.get(name)?.generated === false));
  return varied;
}
