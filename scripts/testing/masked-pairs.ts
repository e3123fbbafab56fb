/** Random pairs of tables that differ in nothing but masked values, each as long as the other's: to whom they are masked they are one. */
import fc from 'fast-check';
import { ENGINES, insertRow, type AnyTestDatabase } from './outbox';

/** Where a value stands that may be masked, by the path that masks it. */
const LEAVES = [
  'payload.kind',
  'payload.order.id',
  'payload.order.total',
  'payload.customer.name',
  'payload.customer.card',
  'payload.items.*.owner',
  'payload.auth.password',
  'headers.trace',
  'headers.dedup',
  'headers.token',
] as const;
type Leaf = (typeof LEAVES)[number];
type Values = Record<Leaf, string>;

/** What can be configured, and what it hides besides the well-known keys. */
const MASKS: Record<string, readonly Leaf[]> = {
  'payload.kind': ['payload.kind'],
  'payload.order.id': ['payload.order.id'],
  'order.total': ['payload.order.total'],
  'payload.customer': ['payload.customer.name', 'payload.customer.card'],
  '**.name': ['payload.customer.name'],
  'payload.items[*].owner': ['payload.items.*.owner'],
  'headers.trace': ['headers.trace'],
  'headers.dedup': ['headers.dedup'],
};
const ALWAYS: readonly Leaf[] = ['payload.auth.password', 'headers.token'];
const NUMBERS: readonly Leaf[] = ['payload.order.total'];

/** No text beside these values has any of their characters, so that each stands where it was put and nowhere else. */
const HIDDEN = fc.constantFrom(...'QXZJWKVé한😀"\\/%&');
const SHOWN = fc.constantFrom(...'abc012');
const WORDS = ['refused by node', 'order of', 'no such card', 'tried 34 times,', 'at 10.0.0.1:', ''];

type Form = 'plain' | 'json' | 'address';
type Part = { word: string } | { leaf: Leaf; form: Form };

export interface PairRow {
  id: number;
  state: 'new' | 'failed' | 'sent' | 'dead';
  made: string;
  tries: number;
  /** The values of each of the two tables. */
  values: [Values, Values];
  errors: [string | null, string | null];
}

export interface Pair {
  mask: string[];
  /** The column type of payload and headers. */
  type: 'json' | 'text';
  /** The event's fields are read out of payload and headers. */
  inside: boolean;
  rows: PairRow[];
}

const lengthOf = (leaf: Leaf) => (NUMBERS.includes(leaf) ? fc.integer({ min: 6, max: 9 }) : fc.integer({ min: 1, max: 14 }));

/** Three values to choose from, so that some rows share one: which do differs from table to table where it is masked. */
function pool(leaf: Leaf, length: number, hidden: boolean): fc.Arbitrary<string[]> {
  const unit = NUMBERS.includes(leaf) ? fc.constantFrom(...(hidden ? '6789' : '1234')) : hidden ? HIDDEN : SHOWN;
  // Counted as JavaScript counts, and as databases do.
  const text = fc.array(unit, { minLength: length, maxLength: length }).map((units) => units.join(''));
  return fc.array(text, { minLength: 3, maxLength: 3 });
}

const choice = fc.integer({ min: 0, max: 2 });

function values(hidden: ReadonlySet<Leaf>, rows: number): fc.Arbitrary<[Values, Values][]> {
  const ofLeaf = (leaf: Leaf): fc.Arbitrary<[string, string][]> => {
    const isHidden = hidden.has(leaf);
    return lengthOf(leaf).chain((length) =>
      fc
        .tuple(
          pool(leaf, length, isHidden),
          pool(leaf, length, isHidden),
          fc.array(fc.tuple(choice, choice), { minLength: rows, maxLength: rows }),
        )
        .map(([one, other, chosen]) => chosen.map(([a, b]): [string, string] => [one[a] ?? '', (isHidden ? other[b] : one[a]) ?? ''])),
    );
  };
  return fc.tuple(...LEAVES.map(ofLeaf)).map((found) =>
    Array.from({ length: rows }, (_, row) => {
      const of = (side: 0 | 1) => Object.fromEntries(LEAVES.map((leaf, index) => [leaf, found[index]?.[row]?.[side] ?? ''])) as Values;
      return [of(0), of(1)];
    }),
  );
}

const FORMS: Record<Form, (value: string) => string> = {
  plain: (value) => value,
  json: (value) => JSON.stringify(value).slice(1, -1),
  address: (value) => encodeURIComponent(value),
};

/** What is written longer than it is would cut a long error elsewhere: those quote values as they are. */
function error(parts: Part[], filler: number, of: Values): string {
  const quoted = parts.map((part) => ('word' in part ? part.word : FORMS[filler > 0 ? 'plain' : part.form](of[part.leaf])));
  return `${'y'.repeat(filler)} ${quoted.join(' ')} end`;
}

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.constantFrom(...WORDS).map((word) => ({ word })),
  fc.record({ leaf: fc.constantFrom(...LEAVES), form: fc.constantFrom<Form>('plain', 'plain', 'json', 'address') }),
);

export const pairs: fc.Arbitrary<Pair> = fc.subarray(Object.keys(MASKS)).chain((mask) => {
  const hidden = new Set([...ALWAYS, ...mask.flatMap((path) => MASKS[path] ?? [])]);
  return fc.integer({ min: 3, max: 6 }).chain((count) =>
    fc
      .record({
        type: fc.constantFrom('json' as const, 'text' as const),
        inside: fc.boolean(),
        values: values(hidden, count),
        rows: fc.array(
          fc.record({
            state: fc.constantFrom('dead' as const, 'dead' as const, 'failed' as const, 'new' as const, 'sent' as const),
            tries: fc.integer({ min: 0, max: 4 }),
            parts: fc.option(fc.array(part, { maxLength: 4 }), { freq: 8 }),
            filler: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 270, max: 505 })),
          }),
          { minLength: count, maxLength: count },
        ),
      })
      .map(({ type, inside, values: chosen, rows }) => ({
        mask,
        type,
        inside,
        rows: rows.flatMap(({ state, tries, parts, filler }, index) => {
          const own = chosen[index];
          if (own === undefined) return [];
          const quoted = (of: Values): string | null => (parts === null ? null : error(parts, filler, of));
          const made = `2026-01-01 00:00:0${index}`;
          return [
            { id: index + 1, state, tries, made, values: own, errors: [quoted(own[0]), quoted(own[1])] as [string | null, string | null] },
          ];
        }),
      })),
  );
});

const payloadOf = (of: Values): string =>
  `{"kind": ${JSON.stringify(of['payload.kind'])}, "order": {"id": ${JSON.stringify(of['payload.order.id'])}, "total": ${of['payload.order.total']}, "currency": "EUR"}, ` +
  `"customer": ${JSON.stringify({ name: of['payload.customer.name'], card: of['payload.customer.card'] })}, ` +
  `"items": [{"sku": "s1", "owner": ${JSON.stringify(of['payload.items.*.owner'])}}], "auth": {"password": ${JSON.stringify(of['payload.auth.password'])}}}`;
const headersOf = (of: Values): string =>
  JSON.stringify({ trace: of['headers.trace'], dedup: of['headers.dedup'], token: of['headers.token'] });

/** Makes and fills one of the two tables of a pair. */
export async function createPairTable(database: AnyTestDatabase, table: string, pair: Pair, side: 0 | 1): Promise<void> {
  const postgres = database.engine === 'postgres';
  const content = pair.type === 'text' ? (postgres ? 'text' : 'longtext') : postgres ? 'jsonb' : 'json';
  const time = postgres ? 'timestamptz' : 'datetime(3)';
  const more = postgres ? '' : ' character set utf8mb4 collate utf8mb4_bin';
  await database.query(
    `create table ${ENGINES[database.engine].quote.identifier(table)} (id int primary key, kind varchar(40), state varchar(20), made ${time} not null, sent ${time} null,
      tries int not null, error text, payload ${content}, headers ${content})${more}`,
  );
  for (const { id, state, made, tries, values: own, errors } of pair.rows)
    await insertRow(database, table, {
      id,
      kind: id % 2 === 0 ? 'paid' : 'sold',
      state,
      made: postgres ? `${made}Z` : made,
      sent: state === 'sent' ? (postgres ? `${made}Z` : made) : null,
      tries,
      error: errors[side],
      payload: payloadOf(own[side]),
      headers: headersOf(own[side]),
    });
}

/** The same change to any of the tables, of columns that everybody sees. */
export async function changePairTable(database: AnyTestDatabase, table: string): Promise<void> {
  await database.query(`update ${table} set tries = tries + 1, kind = 'late'`);
}

/** The outbox of a pair's table, as the configuration has it. */
export function pairOutbox(id: string, database: string, table: string, { mask, inside }: Pair): object {
  const fields = inside
    ? {
        type: { column: 'payload', path: ['kind'] },
        aggregateId: { column: 'payload', path: ['order', 'id'] },
        dedupKey: { column: 'headers', path: ['dedup'] },
        traceId: { column: 'headers', path: ['trace'] },
      }
    : { type: 'kind' };
  return {
    id,
    database,
    table,
    mask,
    amount: { value: 'payload.order.total', currency: 'payload.order.currency' },
    links: [
      { label: 'order', url: 'https://shop.example/{payload.order.id}?t={aggregateId}' },
      { label: 'trace', url: 'https://t.example/{headers.trace}' },
    ],
    shape: {
      columns: {
        id: 'id',
        ...fields,
        createdAt: 'made',
        publishedAt: 'sent',
        attempts: 'tries',
        error: 'error',
        payload: 'payload',
        headers: 'headers',
      },
      states: [
        { state: 'published', when: { column: 'state', equals: 'sent' } },
        { state: 'dead', when: { column: 'state', equals: 'dead' } },
        { state: 'retrying', when: { column: 'state', equals: 'failed' } },
        { state: 'pending', when: { always: true } },
      ],
    },
  };
}

/** How many pairs are tried: fifty, or what MASKED_PAIRS says. */
export const pairsWanted = (): number => Number(process.env.MASKED_PAIRS ?? '50');
