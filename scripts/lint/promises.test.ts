/** What the configuration's schema and docs/http.md promise is there: keys that are read, codes that something answers. */
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml, stringify } from 'yaml';
import { z } from 'zod';
import type { Config } from '@/lib/config/config';
import { parseConfig } from '@/lib/config/load';
import { fileSchema } from '@/lib/config/schema';
import { UNAVAILABLE_REASONS } from '@/lib/shared/figures/measured';
import { VERDICT_RULES } from '@/lib/diagnosis/judge/verdict-registry.gen';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { PAYLOAD_WARNINGS } from '@/lib/shape/shape';
import { VERDICTS } from '@/lib/shared/figures/verdicts';
import { SKIP_CODES } from '@/lib/shared/model';
import { PROBLEM_STATUS } from '@/lib/shared/problems';
import { isProduct, sourceFiles } from './source-files';

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => fs.readFileSync(path.join(ROOT, file), 'utf8');

/** Every key, each with a value that is not its default. */
const WHOLE = `
$schema: https://console.example.com/outbox-console.schema.json
store: postgresql://console@db/store
databases:
  shop: {url: 'postgresql://reader@db/shop', operatorUrl: 'postgresql://operator@db/shop', replicaUrl: 'postgresql://reader@standby/shop'}
outboxes:
  - id: orders
    name: Orders
    database: shop
    table: outbox_events
    shape: published-at
    parameters: {maxAttempts: 7, stuckAfter: 7m, timeZone: Asia/Seoul, deadTable: dead_events, channel: outbox}
    links: {Shop: 'https://shop.example.com/{aggregateId}'}
    amount: payload.total
    mask: [payload.customer.email]
    runbook: https://wiki.example.com/orders
    keys: [payload.order.id]
    consumers: {order_placed: idempotent}
connections: {perServer: 12}
auth: {sessionHours: 4, trustedProxies: [10.0.0.5]}
roles: {}
alerts: {}
approvals: [{outboxes: [orders], operations: [requeue], rows: 200, amount: {EUR: '10000'}, notIdempotent: true}]
retention: {rollups: 30d}
embedding:
  origins: [https://orders.example.com]
  session: true
  keys:
    - {id: shop, secret: 0123456789abcdef0123456789abcdef, outboxes: [orders]}
    - {id: desk, publicKey: {kty: OKP, crv: Ed25519, x: 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo}}
metrics: {anonymous: true, tick: 10s}
`;

/** Without them the file is refused: they are read. */
const NEEDED = [
  'databases.*.url',
  'outboxes.*.id',
  'outboxes.*.database',
  'outboxes.*.table',
  'outboxes.*.shape',
  'embedding.origins',
  ...['id', 'secret', 'publicKey'].map((key) => `embedding.keys.*.${key}`),
];
/** For editors. */
const NOT_OURS = ['$schema'];

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The keys that the JSON Schema has a type for, to where their values begin; `*` is any id or place. */
function schemaKeys(node: Tree, at: readonly string[] = []): string[] {
  const { properties, additionalProperties, items } = node;
  const isParameters = at.at(-1) === 'parameters';
  if (isTree(properties)) return Object.entries(properties).flatMap(([key, child]) => schemaKeys(child as Tree, [...at, key]));
  const of = isTree(items) ? items : additionalProperties;
  if (!isParameters && isTree(of) && isTree(of.properties)) return schemaKeys(of, [...at, '*']);
  return [at.join('.')];
}

/** A copy of the document without one key, wherever `*` leads. */
function without(document: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === '*') {
    if (Array.isArray(document)) return document.map((item: unknown) => without(item, rest));
    return Object.fromEntries(Object.entries(document as Tree).map(([key, value]) => [key, without(value, rest)]));
  }
  const tree = document as Tree;
  if (rest.length === 0) return Object.fromEntries(Object.entries(tree).filter(([key]) => key !== step));
  return { ...tree, [step ?? '']: without(tree[step ?? ''], rest) };
}

function configOf(document: unknown): Config {
  const supported = { shapes: [{ key: 'published-at', engines: ['postgres' as const], parameters: { timeZone: 'UTC' } }] };
  const reading = parseConfig(stringify(document), 'console.yaml', supported, () => undefined);
  if (!reading.ok) throw new Error(reading.problems.join('\n'));
  return reading.config;
}

/** A text that a source file answers, and where: `code` of `{ code: 'locked' }`, `Problem` of `new Problem('locked')`. */
interface Answered {
  text: string;
  as: string;
}

const isComparison = (node: ts.Node): boolean =>
  ts.isCaseClause(node) ||
  (ts.isBinaryExpression(node) &&
    [ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken].includes(node.operatorToken.kind)) ||
  (ts.isArrayLiteralExpression(node) && /^\.includes/.test(node.parent.getText().slice(node.getText().length)));

/** What a text belongs to: through `a ? 'x' : 'y'`, `?? 'x'`, arrays and `as const` the property, or the class, that takes it. */
function takerOf(node: ts.Node): string {
  const { parent } = node;
  if (ts.isPropertyAssignment(parent)) return parent.name.getText();
  if (ts.isNewExpression(parent)) return parent.expression.getText();
  const passes = [
    ts.isConditionalExpression,
    ts.isBinaryExpression,
    ts.isArrayLiteralExpression,
    ts.isAsExpression,
    ts.isSpreadElement,
    ts.isParenthesizedExpression,
  ];
  return passes.some((is) => is(parent)) ? takerOf(parent) : '';
}

/** Names that a source file uses as values, and the texts that it answers: not those of its types, nor those it only compares with. */
function valuesOf(file: string): { texts: Answered[]; names: string[] } {
  const found: ReturnType<typeof valuesOf> = { texts: [], names: [] };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) && !isComparison(node.parent)) found.texts.push({ text: node.text, as: takerOf(node) });
    if (ts.isIdentifier(node)) found.names.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true));
  return found;
}

/** The members that an interface has, those of the maps in it too. */
function membersOf(file: string, name: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertySignature(node)) found.push(node.name.getText());
    ts.forEachChild(node, visit);
  };
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  for (const statement of source.statements) if (ts.isInterfaceDeclaration(statement) && statement.name.text === name) visit(statement);
  return found;
}

const values = new Map(
  sourceFiles(ROOT)
    .filter(isProduct)
    .map((file) => [file, valuesOf(file)]),
);

describe('every key of the configuration', () => {
  const keys = schemaKeys(z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' }));

  it('is read, or named at start as one that nothing is done with', () => {
    const document: unknown = parseYaml(WHOLE);
    const whole = JSON.stringify(configOf(document));
    const asked = keys.filter((key) => !NEEDED.includes(key) && !NOT_OURS.includes(key));
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.filter((key) => JSON.stringify(configOf(without(document, key.split('.')))) === whole)).toEqual([]);
  });

  it('comes to somebody who uses it', () => {
    const programs = sourceFiles(ROOT).filter((file) => file.startsWith('scripts/') && !/\.test\.ts$|\/(lint|testing)\//.test(file));
    const users = [...values].flatMap(([file, { names }]) => (file.startsWith('lib/config/') ? [] : names));
    const used = new Set([...users, ...programs.flatMap((file) => valuesOf(file).names)]);
    const members = ['Config', 'DatabaseConfig', 'OutboxConfig', 'ApprovalRule', 'EmbeddingKey'].flatMap((name) =>
      membersOf('lib/config/config.ts', name),
    );
    expect(members.length).toBeGreaterThan(20);
    expect(members.filter((name) => !used.has(name))).toEqual([]);
  });

  it('is in docs/configuration.md', () => {
    const docs = read('docs/configuration.md');
    const names = keys.filter((key) => !NOT_OURS.includes(key));
    const written = (key: string): string =>
      key.replace(/^databases\.\*/, 'databases.<id>').replace(/^(outboxes|approvals|embedding\.keys)\.\*/, '$1[]');
    expect(names.filter((key) => !docs.includes(`\`${written(key)}\``))).toEqual([]);
  });
});

describe('every code', () => {
  const codes = { problem: Object.keys(PROBLEM_STATUS), skip: SKIP_CODES, unavailable: UNAVAILABLE_REASONS, verdict: VERDICTS };
  /** Texts answered in these rooms, which are not where codes are listed or put into words. */
  const answeredIn = (rooms: RegExp, as = /^/): Set<string> =>
    new Set(
      [...values].flatMap(([file, { texts }]) => (rooms.test(file) ? texts.filter((one) => as.test(one.as)).map(({ text }) => text) : [])),
    );
  /** Codes that the shapes hold under these keys, wherever. */
  const ofShapes = (...keys: string[]): string[] => {
    const found: string[] = [];
    JSON.stringify(SHAPES, (key, value: unknown) => {
      if (keys.includes(key))
        found.push(...[isTree(value) ? Object.values(value) : value].flat(2).filter((one) => typeof one === 'string'));
      return value;
    });
    return found;
  };
  const english = JSON.parse(read('lib/messages/en.json')) as Record<'refusals' | 'warnings', Record<string, string>>;

  it.each<[keyof typeof codes | keyof typeof english, readonly string[], Set<string>]>([
    ['problem', codes.problem, answeredIn(/^(app|lib)\//, /^Problem$/)],
    ['skip', codes.skip, answeredIn(/^lib\/interventions\/(classify|apply|operation)/, /^code$/)],
    ['unavailable', codes.unavailable, answeredIn(/^lib\/(figures|snapshots|live|outbox\/(outbox-info|replication-slots|rows))/)],
    ['verdict', codes.verdict, new Set(VERDICT_RULES.map(({ verdict }) => verdict))],
    [
      'refusals',
      Object.keys(english.refusals),
      // A role that may not change anything is told by the screens, before anything is sent; two are there for mappings to write.
      new Set([
        'forbidden',
        'needs_sampling',
        'no_schedule',
        ...ofShapes('refuse', 'noArchive'),
        ...answeredIn(/^lib\/(interventions|outbox)\//),
      ]),
    ],
    [
      'warnings',
      Object.keys(english.warnings),
      new Set([...ofShapes('warnings', 'cautions', 'warn'), ...PAYLOAD_WARNINGS, ...answeredIn(/^lib\/(interventions|outbox|runs)\//)]),
    ],
  ])('of the list of %s is answered by what is there to answer it', (_, listed, answered) => {
    expect(listed.length).toBeGreaterThan(9);
    expect(listed.filter((code) => !answered.has(code))).toEqual([]);
  });

  it('is not answered by what compares with it, or puts it into words', () => {
    const texts = (file: string) => values.get(file)?.texts.map(({ text }) => text);
    expect(texts('lib/outbox/outbox-info.ts')).not.toContain('not_found');
    expect(answeredIn(/^components\//, /^Problem$/)).toEqual(new Set());
    expect(answeredIn(/^lib\/interventions\//, /^code$/)).not.toContain('deadlock');
  });

  it('of problems and skipped events is in docs/http.md, and there is no other', () => {
    const tables = read('docs/http.md').split('\n\n');
    const firstCells = (header: string): string[] => {
      const table = tables.find((text) => text.startsWith('|') && text.split('|')[1]?.trim() === header) ?? '';
      return [...table.matchAll(/^\| `([a-z_]+)`/gm)].map(([, code = '']) => code).sort();
    };
    expect(firstCells('code')).toEqual([...codes.problem].sort());
    expect(firstCells('skip code')).toEqual([...codes.skip].sort());
  });
});
