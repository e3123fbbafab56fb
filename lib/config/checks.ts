/** Checks beyond the schema: duplicate ids, references to nothing, and connection strings that cannot be read. */
import { z } from 'zod';
import { extraParameterSchema } from '@/lib/shape/schema/parameters';
import type { Shape } from '@/lib/shape/shape';
import { OPERATION_KEYS } from '@/lib/shared/changes/fates';
import { SCHEMES } from '@/lib/shared/connections';
import type { EngineKey, OutboxEvent } from '@/lib/shared/model';
import { mysqlParameters } from '@/lib/shared/mysql-url';
import type { Supported } from './config';
import { idsIn, isMap, listOf, type Unread } from './document';
import { isFieldPath, PARAMETERS, parseDurationSeconds } from './schema';
import { contentPath, formatPath } from '@/lib/shared/lists/document-path';
import { hidesPath } from '@/lib/shared/lists/masked-paths';
import { suggestion } from '@/lib/shared/text/suggest';
import { tried } from '@/lib/shared/tried';

/** Each engine's name, and the suffix of its shapes' keys. */
const ENGINES: Record<EngineKey, Record<'name' | 'twin', string>> = {
  postgres: { name: 'PostgreSQL', twin: '-pg' },
  mysql: { name: 'MySQL or MariaDB', twin: '-mysql' },
};

// prettier-ignore
const EVENT_FIELDS: (keyof OutboxEvent)[] = [
  'id', 'type', 'topic', 'aggregateType', 'aggregateId', 'dedupKey', 'traceId', 'createdAt', 'publishedAt', 'state', 'amount',
  'currency',
];

/** The engine of a connection string; null if the scheme is unknown or it cannot be parsed. */
export const engineOf = (url: unknown): EngineKey | null =>
  typeof url === 'string' && URL.canParse(url) ? (SCHEMES[new URL(url).protocol]?.engine ?? null) : null;

/** The problem of a connection string, null if none; never quotes it, as it contains a password. */
function urlProblem(url: unknown): string | null {
  if (typeof url !== 'string' || url === '' || url.includes('${')) return null;
  const engine = engineOf(url);
  if (engine === null)
    return 'write a connection string that begins with postgresql://, postgres://, mysql:// or mariadb:// (percent-encode special characters in the password)';
  const { username, password, pathname } = new URL(url);
  if (![username, password, pathname].every((part) => tried(() => decodeURIComponent(part)) !== undefined))
    return 'holds a % that begins no percent-encoded character: write %25 for a % itself';
  const parameters = engine === 'mysql' ? mysqlParameters(new URL(url)) : null;
  return typeof parameters === 'string' ? parameters : null;
}

function checkDatabases(databases: Unread): string[] {
  const problems: string[] = [];
  for (const [id, entry] of Object.entries(databases)) {
    if (!isMap(entry)) continue;
    const engine = engineOf(entry.url);
    for (const key of ['url', 'operatorUrl']) {
      const at = formatPath(['databases', id, key]);
      const [problem, own] = [urlProblem(entry[key]), engineOf(entry[key])];
      if (problem !== null) problems.push(`${at}: ${problem}`);
      if (engine !== null && own !== null && own !== engine)
        problems.push(`${at}: is for another engine than url; both must reach the same database`);
    }
  }
  return problems;
}

/** User and host of a link; null if they depend on the event's fields, or the link is no URL. */
function hostOf(url: string): string | null {
  // Parses it as browsers do, with two different values: what changes depends on the event.
  const [one, other] = ['1', '2'].map((value) => {
    const filled = url.replace(/\{[^}]*\}/g, value);
    if (!URL.canParse(filled)) return null;
    const { host, username, password } = new URL(filled);
    return `${username}:${password}@${host}`;
  });
  return one === other ? (one ?? null) : null;
}

function linkProblem(url: string): string | null {
  for (const [, field = ''] of url.matchAll(/\{([^}]*)\}/g)) {
    const named = (EVENT_FIELDS as string[]).includes(field) || (/^(payload|headers)\./.test(field) && isFieldPath(field));
    if (!named) return `{${field}} is no field of an event${suggestion(field, EVENT_FIELDS)}`;
  }
  if (url.includes('{') && hostOf(url) === null)
    return 'the host comes out of an event; write it here, and {fields} behind it alone, as in https://shop.example.com/orders/{aggregateId}';
  return null;
}

function checkLinks(links: unknown, path: readonly PropertyKey[]): string[] {
  const entries: [PropertyKey[], unknown][] = Array.isArray(links)
    ? links.map((link: unknown, index) => [[index, 'url'], isMap(link) ? link.url : undefined])
    : Object.entries(isMap(links) ? links : {}).map(([label, url]) => [[label], url]);
  return entries.flatMap(([at, url]) => {
    const problem = typeof url === 'string' ? linkProblem(url) : null;
    return problem === null ? [] : [`${formatPath([...path, ...at])}: ${problem}`];
  });
}

function checkOutbox(outbox: Unread, index: number, databases: Unread, supported: Supported): string[] {
  const problems: string[] = [];
  const at = (...rest: PropertyKey[]): string => formatPath(['outboxes', index, ...rest]);
  if (typeof outbox.database === 'string' && !Object.hasOwn(databases, outbox.database)) {
    const hint = suggestion(outbox.database, Object.keys(databases));
    problems.push(`${at('database')}: there is no database "${outbox.database}" under databases${hint}`);
  }
  const keys = supported.shapes.map(({ key }) => key);
  if (typeof outbox.shape === 'string' && outbox.shape !== '' && !keys.includes(outbox.shape)) {
    const hint = suggestion(outbox.shape, keys);
    const or = hint.endsWith('?') ? ' Or' : '; or';
    problems.push(`${at('shape')}: there is no shape "${outbox.shape}"${hint}${or} write a mapping of your own`);
  }
  const elsewhere = otherEngine(outbox, databases, supported);
  if (elsewhere !== null) problems.push(`${at('shape')}: ${elsewhere}`);
  if (isMap(outbox.parameters)) problems.push(...checkParameters(outbox.parameters, extraParameters(outbox.shape, supported), at));
  if (isMap(outbox.amount)) {
    const { value, path } = outbox.amount;
    if ((value === undefined) === (path === undefined)) problems.push(`${at('amount')}: write value, the path of the amount, once`);
  }
  return [...problems, ...checkKeys(outbox, at), ...checkLinks(outbox.links, ['outboxes', index, 'links'])];
}

/** Everybody who reads may search by a key: what is masked cannot be one, as a search would confirm it. */
function checkKeys({ keys, mask }: Unread, at: (...rest: PropertyKey[]) => string): string[] {
  const masked = listOf(mask).filter((path) => typeof path === 'string');
  return listOf(keys).flatMap((key, index) => {
    if (typeof key !== 'string' || !isFieldPath(key)) return [];
    const { content, steps } = contentPath(key);
    const problem = `${at('keys', index)}: ${key} is masked: name a value that everybody may see who reads events`;
    return hidesPath(masked, content, steps) ? [problem] : [];
  });
}

/** The problem of a built-in shape on another engine than its database; null if none. */
function otherEngine({ shape, database }: Unread, databases: Unread, { shapes }: Supported): string | null {
  const entry = typeof database === 'string' && Object.hasOwn(databases, database) ? databases[database] : undefined;
  const engine = isMap(entry) ? engineOf(entry.url) : null;
  const found = shapes.find(({ key }) => key === shape);
  if (engine === null || found === undefined || found.engines.includes(engine)) return null;
  const twin = found.key.replace(/-(pg|mysql)$/, ENGINES[engine].twin);
  const meant = shapes.some(({ key }) => key === twin && key !== shape) ? `; did you mean "${twin}"?` : '; write a mapping of your own';
  return `${found.key} is a shape of ${found.engines.map((one) => ENGINES[one].name).join(' and ')}, and database ${String(database)} is ${ENGINES[engine].name}${meant}`;
}

/** A shape's own parameters: of a built-in one by its key, or of a mapping, even if that is invalid elsewhere. */
export function extraParameters(shape: unknown, { shapes }: Supported): NonNullable<Shape['parameters']['extra']> {
  if (typeof shape === 'string') return shapes.find(({ key }) => key === shape)?.parameters.extra ?? {};
  const own = isMap(shape) && isMap(shape.parameters) ? shape.parameters.extra : undefined;
  return z.record(z.string(), extraParameterSchema).safeParse(own ?? {}).data ?? {};
}

function checkParameters(given: Unread, extra: ReturnType<typeof extraParameters>, at: (...rest: PropertyKey[]) => string): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    if (PARAMETERS.includes(name)) return [];
    const own = extra[name];
    if (own === undefined) return [`${at('parameters', name)}: unknown key${suggestion(name, [...PARAMETERS, ...Object.keys(extra)])}`];
    if (typeof value === 'string' && value.includes('${')) return [];
    if (own.unit === 's' && (typeof value === 'string' || typeof value === 'number') && parseDurationSeconds(value) !== null) return [];
    if (own.unit === 'count' && Number.isSafeInteger(Number(value)) && Number(value) >= 0) return [];
    if (own.unit === 'text' && (typeof value === 'string' || typeof value === 'number')) return [];
    const wanted = { s: 'a duration such as 30s, 5m, 1h or a number of seconds', count: 'a whole number', text: 'text' }[own.unit];
    return [`${at('parameters', name)}: write ${wanted}`];
  });
}

function duplicates(outboxes: unknown[]): string[] {
  const ids = outboxes.map((outbox) => (isMap(outbox) && typeof outbox.id === 'string' ? outbox.id : null));
  return ids.flatMap((id, index) => {
    const before = ids.indexOf(id);
    const problem = `outboxes[${index}].id: "${id ?? ''}" is already the id of outboxes[${before}]; ids must differ`;
    return id === null || before === index ? [] : [problem];
  });
}

/** A rule that names what is not there would ask nobody, and nobody would see it. */
function checkApprovals(approvals: unknown, outboxes: unknown[]): string[] {
  const known = { outboxes: idsIn(outboxes), operations: OPERATION_KEYS as readonly string[] };
  return listOf(approvals).flatMap((rule, index) =>
    (['outboxes', 'operations'] as const).flatMap((list) =>
      listOf(isMap(rule) ? rule[list] : []).flatMap((name, place) =>
        typeof name !== 'string' || name.includes('${') || known[list].includes(name)
          ? []
          : `${formatPath(['approvals', index, list, place])}: there is no ${list === 'outboxes' ? 'outbox' : 'operation'} ${JSON.stringify(name)}${suggestion(name, known[list])}`,
      ),
    ),
  );
}

/** Checks a document that may fail the schema too, so that all problems are reported at once. */
export function crossCheck(document: unknown, supported: Supported): string[] {
  if (!isMap(document)) return [];
  const databases = isMap(document.databases) ? document.databases : {};
  const outboxes = listOf(document.outboxes);
  const problems = [
    ...checkDatabases(databases),
    ...outboxes.flatMap((outbox, index) => (isMap(outbox) ? checkOutbox(outbox, index, databases, supported) : [])),
    ...duplicates(outboxes),
    ...checkApprovals(document.approvals, outboxes),
  ];
  if (typeof document.store === 'string' && !document.store.includes('${') && engineOf(document.store) !== 'postgres')
    problems.push('store: write a connection string that begins with postgresql:// or postgres://; the store is always PostgreSQL');
  return problems;
}
