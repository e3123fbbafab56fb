import { expect, test } from 'vitest';
import { differences, type ProofFacts } from './proof-facts';

const table = { name: 'public.outbox', columns: { id: 'bigint not null' }, keys: ['id'], triggers: null, rewritten: false };
const facts = (mapping: Record<string, string>): ProofFacts => ({
  version: 1,
  engine: 'postgres',
  database: 'shop',
  mapping,
  main: table,
  dead: null,
});

test('a proof outlasts what is only said about a relay, and no other part of its mapping', () => {
  expect(differences(facts({ states: 'a', claim: 'b' }), facts({ states: 'a' }))).toEqual([]);
  expect(differences(facts({ states: 'a' }), facts({ states: 'b' }))).toMatchObject([{ what: 'mapping', of: 'states' }]);
});
