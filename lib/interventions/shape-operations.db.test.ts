/**
 * Every operation on every sample row of every shape that has its changes written down: what is named is written, all else is left
 * alone; and what is no longer what the operator saw is left alone as a whole, where nothing but its version tells.
 */
import { sampleOf } from '@/fixtures/samples';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { amendment } from '@/scripts/testing/amend';
import { coverOf } from '@/scripts/testing/covers';
import {
  createSample,
  ENGINES,
  insertRow,
  openProven,
  sampleEventId,
  tableOf,
  useTestDatabaseOf,
  type ProvenOutbox,
} from '@/scripts/testing/outbox';
import { archiveTable } from '@/lib/outbox/companions';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { idText } from '@/lib/outbox/rows/row-id';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { RULE_OPERATIONS } from '@/lib/shared/changes/fates';
import { intervene } from './intervene';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';
import { IN_A_DAY, MOVED, NOW, type Change } from '@/fixtures/sample';

const OPERATIONS = [...RULE_OPERATIONS, 'archive'];
const cases = SHAPES.flatMap((shape) =>
  sampleOf(shape).changes !== undefined ? shape.engines.map((engine) => [shape.key, engine, shape] as const) : [],
);

it('a shape proven by tests has its changes written down, or operations tested by name', () => {
  const tested = ['courier-status', 'escrow-status', 'listen-notify', 'published-at', 'worker-status'];
  const proven = SHAPES.filter((shape) => shape.proven === 'by_tests' && sampleOf(shape).changes === undefined);
  expect(proven.map(({ key }) => key).sort()).toEqual(tested);
});

/** A column that no library has and no state is read from. */
const NOTE = 'a_note';

type Texts = Record<string, string | null>;

describe.each(cases)('%s on %s', (_, engine, shape) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    await createSample(db, shape, { rows: false });
    for (const name of [main, ...dead]) await db.query(`ALTER TABLE ${name} ADD COLUMN ${NOTE} int NULL`);
  });
  let open: ProvenOutbox;
  beforeAll(async () => {
    open = await openProven(database, shape, { parameters: sampleOf(shape).parameters ?? {} });
  });
  afterAll(() => open.close());
  const { identifier } = ENGINES[engine].quote;
  const main = tableOf(shape, 'main', engine);
  const dead = shape.dead === undefined ? [] : [tableOf(shape, 'dead', engine)];
  const { schema, table } = archiveTable(ENGINES[engine], 'sample');
  const archive = [schema, table].flatMap((part) => (part === null ? [] : [identifier(part)])).join('.');
  const rows = sampleOf(shape).rows;

  it.each(OPERATIONS)('%s changes what is written down, and nothing else', async (operation) => {
    for (const row of rows) {
      await fill();
      const id = sampleEventId(shape, row);
      const wanted = sampleOf(shape).changes?.[operation]?.[id];
      const from = tableOf(shape, row.in, engine);
      const before = await rowOf(id, from);
      const result = await act(operation, id, await versionOf(id));
      expect.soft(result.changed, `${operation} of ${id}`).toEqual(wanted === undefined ? [] : [id]);
      const to = wanted === MOVED ? archive : wanted === undefined ? from : main;
      expectChange(before, await rowOf(id, to), wanted, `${operation} of ${id}`);
      if (to !== from) expect.soft(await rowOf(id, from), `${id} is no longer there`).toBeNull();
    }
  });

  const changeable = OPERATIONS.flatMap((operation) =>
    rows.flatMap((row) => {
      const id = sampleEventId(shape, row);
      return sampleOf(shape).changes?.[operation]?.[id] === undefined ? [] : [{ operation, id, row }];
    }),
  );

  it('an event with another content than was seen is left alone, and so is what was seen as a whole and was written again', async () => {
    for (const { operation, id, row } of changeable) {
      const place = row.in === 'dead' && open.outbox.dead !== null ? open.outbox.dead : open.outbox.main;
      const from = tableOf(shape, row.in, engine);
      const content = amendment(engine, place, 1);
      expect.soft(content, `${id} has content that can be another`).not.toBeNull();
      const cover = coverOf(open.outbox, operation, row.in, row.state);
      for (const [what, change, passes] of [
        ['with another content', content, false],
        ['written again', `${NOTE} = 1`, cover === 'stable'],
      ] as const) {
        if (change === null) continue;
        await fill();
        const seen = await versionOf(id);
        await database.query(`UPDATE ${from} SET ${change}`);
        const before = await rowOf(id, from);
        const result = await act(operation, id, seen);
        if (passes) expect.soft(result.changed, `${operation} of ${id} ${what}`).toEqual([id]);
        else {
          expect.soft(result.skipped, `${operation} of ${id} ${what}`).toMatchObject([{ id, code: 'changed_since_seen' }]);
          expect.soft(await rowOf(id, from), `${id} ${what}`).toEqual(before);
        }
      }
    }
  });

  async function fill(): Promise<void> {
    for (const name of [main, ...dead, archive]) await database.query(`DELETE FROM ${name}`);
    for (const one of rows) await insertRow(database, tableOf(shape, one.in, engine), one.values);
  }

  async function versionOf(id: string): Promise<string> {
    return (await getEvent(open.outbox, id))?.event.version ?? '';
  }

  function act(operation: string, id: string, version: string) {
    const body = { operation, events: [{ id, version }], reason: 'row by row' };
    return intervene(depsFor(open.outbox, open.known), ANNA, 'sample', body, freshKey());
  }

  /** The row of an event as texts; the archive's own columns left out. */
  async function rowOf(id: string, from: string): Promise<Texts | null> {
    const all =
      database.engine === 'postgres'
        ? (
            await database.query<{ row: Texts }>(
              `SELECT (SELECT json_object_agg(k, v #>> '{}') FROM json_each(to_json(t)) AS e (k, v)) AS row FROM ${from} AS t`,
            )
          ).map(({ row }) => row)
        : (await database.query<Record<string, unknown>>(`SELECT * FROM ${from}`)).map(texts);
    const names = open.outbox.main.id.map((column) => column.name);
    const found = all.find((row) => idText(names.map((name) => row[name] ?? '')) === id);
    return found === undefined ? null : Object.fromEntries(Object.entries(found).filter(([name]) => !name.startsWith('oc_')));
  }
});

function texts(row: Record<string, unknown>): Texts {
  const text = (value: unknown): string | null =>
    value === null
      ? null
      : Buffer.isBuffer(value)
        ? value.toString('hex')
        : typeof value === 'object'
          ? JSON.stringify(value)
          : String(value);
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, text(value)]));
}

/** Flags print differently by engine. */
const SAME: Record<string, string> = { true: '1', false: '0' };

function expectChange(before: Texts | null, after: Texts | null, wanted: Change | undefined, what: string): void {
  expect(before, what).not.toBeNull();
  // What is moved has the columns of where it is.
  const expected: Texts = Object.fromEntries(Object.entries(before ?? {}).filter(([name]) => after === null || name in after));
  for (const [name, value] of Object.entries(after ?? {})) if (value === null && !(name in expected)) expected[name] = null;
  if (wanted !== undefined && wanted !== MOVED) {
    for (const [written, value] of Object.entries(wanted)) {
      const name = Object.keys(expected).find((column) => column.toLowerCase() === written.toLowerCase()) ?? written;
      const now = after?.[name] ?? null;
      if (value === NOW || value === IN_A_DAY) {
        // The day and the hour are the test's own: the clocks of both are one.
        const due = Date.now() + (value === NOW ? 0 : 86_400_000);
        expect.soft(Math.abs(due - Date.parse(utc(now))), `${what}: ${name} is now`).toBeLessThan(120_000);
        expected[name] = now;
      } else expected[name] = now !== null && value !== null && SAME[value] === now ? now : value;
    }
  }
  expect.soft(after, what).toEqual(expected);
}

/** A time as either engine prints it, zone-less ones being UTC here. */
function utc(text: string | null): string {
  if (/^\d{13}$/.test(text ?? '')) return new Date(Number(text)).toISOString();
  const iso = (text ?? '').replace(' ', 'T');
  return /(Z|[+-]\d{2}(:?\d{2})?)$/.test(iso) ? iso : `${iso}Z`;
}
