/** What does not change what a table is: the case of its names, and columns everybody has. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { findCandidates } from './candidates';
import { HOME_GROWN } from '@/fixtures/detection/home-grown';
import { ORDINARY_TABLES } from '@/fixtures/detection/ordinary-tables';
import { SHAPE_FACTS, type TableFact } from '@/fixtures/detection/shape-facts';
import { catalogueTable, columnsOf } from '@/fixtures/detection/tables';

const KNOWN = SHAPE_FACTS.filter((fact) => fact.engines.includes('postgres') && SHAPES.some(({ key }) => key === fact.shape));
const ORDINARY_COLUMNS = [
  'tenant_id bigint',
  'updated_by text',
  'notes text',
  'region varchar(8)',
  'deleted_at timestamptz',
  'shard int',
  'is_test boolean',
  'org_id uuid',
];

const CASES: ((name: string) => string)[] = [
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => name.toLowerCase(),
  (name) => name.charAt(0).toUpperCase() + name.slice(1),
];
const respell = fc.constantFrom(...CASES);
const added = fc.uniqueArray(fc.constantFrom(...ORDINARY_COLUMNS), { maxLength: 4 });

function changed(fact: TableFact, spell: (name: string) => string, extra: readonly string[]): TableFact {
  const columns = columnsOf(fact).map(({ name, type }) => `"${spell(name)}" ${type.replaceAll(' ', '_')}`);
  return { ...fact, table: spell(fact.table), columns: [...columns, ...extra].join(', ') };
}

function shapesOf(fact: TableFact): (string | null)[] {
  const options = { engine: 'postgres' as const, configured: new Map<string, string>() };
  return findCandidates([catalogueTable(fact)], options).map(({ candidate }) => candidate.shape);
}

describe('case and ordinary columns', () => {
  it('leave a library’s table what it is', () => {
    expect(KNOWN.length).toBeGreaterThan(5);
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN), respell, added, (fact, spell, extra) => {
        expect(shapesOf(changed(fact, spell, extra))).toEqual([fact.shape]);
      }),
      { numRuns: 500 },
    );
  });

  it('leave a table made by hand an outbox', () => {
    fc.assert(
      fc.property(fc.constantFrom(...HOME_GROWN), respell, added, (fact, spell, extra) => {
        expect(shapesOf(changed(fact, spell, extra))).toEqual([null]);
      }),
      { numRuns: 300 },
    );
  });

  it('make no outbox of an ordinary table', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ORDINARY_TABLES), respell, added, (fact, spell, extra) => {
        expect(shapesOf(changed(fact, spell, extra))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
