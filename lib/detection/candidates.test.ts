import { describe, expect, it } from 'vitest';
import type { EngineKey } from '@/lib/shared/model';
import { findCandidates, type Found } from './candidates';
import { HOME_GROWN } from './testing/home-grown';
import { ORDINARY_TABLES } from './testing/ordinary-tables';
import { RULES } from './testing/rules';
import { SHAPE_FACTS, type TableFact } from './testing/shape-facts';
import { catalogueTable } from './testing/tables';

const find = (facts: readonly TableFact[], engine: EngineKey = 'postgres'): Found[] =>
  findCandidates(facts.map(catalogueTable), { engine, signatures: RULES, configured: new Map(), defaultSchema: 'public' });

describe.each(['postgres', 'mysql'] as const)('the catalogue of a database on %s', (engine) => {
  const shapes = SHAPE_FACTS.filter((fact) => fact.engines.includes(engine));
  const facts = [...shapes.flatMap((fact) => [fact, ...fact.beside]), ...ORDINARY_TABLES, ...HOME_GROWN];
  const found = find(facts, engine);
  const of = (fact: TableFact): Found[] =>
    found.filter(({ table }) => table.name.schema === fact.schema && table.name.table === fact.table);

  it.each(shapes.map((fact) => [fact.shape, fact] as const))('names %s', (shape, fact) => {
    expect(of(fact).map(({ candidate }) => candidate.shape)).toEqual([shape]);
  });

  it.each(ORDINARY_TABLES.map((fact) => [fact.table, fact] as const))('lets %s alone', (_, fact) => {
    expect(of(fact).map(({ candidate }) => [candidate.shape, candidate.confidence, candidate.reasons])).toEqual([]);
  });

  it.each(HOME_GROWN.map((fact) => [fact.table, fact] as const))('finds %s made by hand', (_, fact) => {
    const [one] = of(fact);
    expect(one?.candidate).toMatchObject({ shape: null, confidence: fact.confidence });
    const roles = Object.fromEntries(Object.entries(one?.generic?.roles ?? {}).map(([role, column]) => [role, column.name]));
    expect(roles).toMatchObject(fact.roles);
  });
  it('takes nothing that stands beside for a candidate of its own', () => {
    const known = new Set([...shapes, ...HOME_GROWN].map((fact) => `${fact.schema}.${fact.table}`));
    expect(found.map(({ table }) => `${table.name.schema}.${table.name.table}`).filter((name) => !known.has(name))).toEqual(
      ['npm_transactional_outbox.inbox'].filter(() => engine === 'postgres'),
    );
  });
});
