import { describe, expect, it } from 'vitest';
import { ENGINE_KEYS, type EngineKey } from '@/lib/shared/model';
import { findCandidates, type Found } from './candidates';
import { HOME_GROWN } from '@/fixtures/detection/home-grown';
import { ORDINARY_TABLES } from '@/fixtures/detection/ordinary-tables';
import { SHAPE_FACTS, type TableFact } from '@/fixtures/detection/shape-facts';
import { catalogueTable } from '@/fixtures/detection/tables';

const find = (facts: readonly TableFact[], engine: EngineKey = 'postgres'): Found[] =>
  findCandidates(facts.map(catalogueTable), { engine, configured: new Map() });

describe.each(ENGINE_KEYS)('the catalogue of a database on %s', (engine) => {
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

describe('two shapes that are near', () => {
  const debezium = 'id uuid, aggregatetype text, aggregateid text, type text, payload jsonb';

  it('are told apart by a column one of them never has', () => {
    expect(find([{ schema: 's', table: 'outbox', columns: debezium }])[0]?.candidate.shape).toBe('debezium-outbox');
    expect(find([{ schema: 's', table: 'outbox', columns: `${debezium}, processed_at timestamptz` }])[0]?.candidate.shape).toBeNull();
  });

  it('are less sure under another name, and the common columns of one tell nothing without it', () => {
    expect(find([{ schema: 's', table: 'order_outbox', columns: debezium }])[0]?.candidate).toMatchObject({
      shape: 'debezium-outbox',
      confidence: 'possible',
      cautions: [{ code: 'other_name' }, { code: 'assumed', values: { parameter: 'slot' } }],
    });
    expect(
      find([{ schema: 's', table: 'orders', columns: 'id uuid, event_type text, payload jsonb, status text, created_at timestamp' }]),
    ).toEqual([]);
  });
});

describe('dead letters', () => {
  const columns = 'id bigint, event_type text, payload jsonb, created_at timestamptz, sent_at timestamptz';

  it('belong to the outbox they are called after, not to its neighbour', () => {
    const found = find(['billing_outbox', 'order_outbox', 'order_outbox_dead'].map((table) => ({ schema: 's', table, columns })));
    expect(found.map(({ candidate }) => [candidate.table, candidate.companions])).toEqual([
      ['s.billing_outbox', []],
      ['s.order_outbox', [{ table: 's.order_outbox_dead', purpose: 'dead' }]],
    ]);
  });

  it('belong to the outbox they are called after, though they have more columns in common with another', () => {
    const wide = {
      schema: 's',
      table: 'payment_outbox',
      columns: `${columns}, aggregate_type text, aggregate_id text, status text, retry_count int`,
    };
    const letters = {
      schema: 's',
      table: 'payment_outbox_dlq',
      columns: 'id bigint, outbox_id bigint, payload jsonb, created_at timestamptz, error text',
    };
    const found = find([
      { schema: 's', table: 'coded_outbox', columns: 'id bigint, event_type text, payload jsonb, created_at timestamptz' },
      wide,
      letters,
    ]);
    expect(Object.fromEntries(found.map(({ candidate }) => [candidate.table, candidate.companions.length]))).toEqual({
      's.coded_outbox': 0,
      's.payment_outbox': 1,
    });
  });

  it('of a library belong to its outbox beside them, and stand for themselves where that is not seen', () => {
    const letters = { schema: 's', table: 'dead_letters', columns: 'id uuid, seq bigint, topic text, payload jsonb, headers jsonb, key text, created_at timestamptz, attempts int, last_error text, history jsonb, reason text, failed_at timestamptz' }; // prettier-ignore
    const messages = { ...letters, table: 'messages', columns: 'id uuid, seq bigint, topic text, payload jsonb, headers jsonb, key text, created_at timestamptz, available_at timestamptz, attempts int, last_error text, history jsonb, lease_owner text, lease_until timestamptz' }; // prettier-ignore
    expect(find([letters, messages]).map(({ candidate }) => [candidate.shape, candidate.companions])).toEqual([
      ['nestjs-outbox-pg', [{ table: 's.dead_letters', purpose: 'dead' }]],
    ]);
    expect(find([letters]).map(({ candidate }) => candidate.shape)).toEqual(['nestjs-outbox-dead-letters']);
  });

  it.each([
    [
      'masstransit-outboxstate',
      'outbox_id uuid, lock_id uuid, row_version bytea, created timestamptz, delivered timestamptz, last_sequence_number bigint',
    ],
    [
      'nservicebus-outboxdata',
      'MessageId varchar(200), Dispatched boolean, DispatchedAt timestamp, PersistenceVersion varchar(23), Operations jsonb',
    ],
    ['watermill-queue', 'offset bigint, uuid varchar(36), payload json, metadata json, acked boolean, created_at timestamptz'],
    [
      'sbmt-outbox',
      'id bigint, uuid uuid, event_name text, event_key text, bucket int, status int, payload bytea, errors_count int, processed_at timestamptz',
    ],
  ])('%s is certain under any name, by columns that only one library calls so', (shape, columns) => {
    expect(find([{ schema: 's', table: 'spool', columns }])[0]?.candidate).toMatchObject({
      shape,
      confidence: 'certain',
      cautions: expect.arrayContaining([{ code: 'other_name', values: { table: 'spool' } }]) as unknown,
    });
  });
});
