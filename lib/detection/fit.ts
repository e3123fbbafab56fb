/** How well a table fits as an outbox: by the detection rules of a built-in shape, or generically by names and types. */
import type { CatalogueColumn, CatalogueTable } from '@/lib/database/catalogue';
import { tableParts, type TableRef } from '@/lib/shape/schema/names';
import type { Shape } from '@/lib/shape/shape';
import type { CandidateCompanion, Caution, Confidence, Reason } from '@/lib/shared/detection';
import { bare, folded, wordsOf } from './names';
import { claimOf, isCommonName, rolesOf, vetoes, type RoleColumns } from './roles';
import { AUXILIARY_WORDS, EVENT_NAME, OUTBOX_NAME } from './words';

export type DetectableShape = Shape & { detect: NonNullable<Shape['detect']> };

/** Weights of the evidence for a shape; they add up to one. */
const WEIGHT = { columns: 0.45, name: 0.35, companion: 0.15, schema: 0.05 };
/** With this many uncommon column names the table's own name does not matter. */
const TELLING_COLUMNS = 4;
/** This many columns do not match by chance, however common each name is. */
const MANY_COLUMNS = 10;
/** If the table's name is only like an outbox's, the shape's columns must be this share of the table's. */
const COVERED_SHARE = 0.6;

export interface ShapeFit {
  shape: DetectableShape;
  confidence: Confidence;
  score: number;
  named: boolean;
  companions: { table: CatalogueTable; purpose: CandidateCompanion['purpose'] }[];
  reasons: Reason[];
}

export type Neighbours = (schema: string) => readonly CatalogueTable[];

export function fitShape(table: CatalogueTable, shape: DetectableShape, neighbours: Neighbours): ShapeFit | null {
  const { mustHave, mustNotHave, signature, types, underscoreless } = shape.detect;
  const spell = underscoreless === true ? bare : folded;
  const columns = new Map(table.columns.map((column) => [spell(column.name), column]));
  const has = (name: string): boolean => columns.has(spell(name));
  if (!mustHave.every(has) || mustNotHave.some(has)) return null;
  const typed = Object.entries(types).every(([name, type]) => typeFits(columns.get(spell(name))?.type, type));
  const captured = capturedBy(table.name.table, shape);
  const named = captured !== null;
  const signed =
    signature.length > 0 && signature.every((name) => has(name) || table.columns.some(({ type }) => bare(type) === bare(name)));
  const share = mustHave.length / Math.max(1, table.columns.length);
  const telling = mustHave.filter((name) => !isCommonName(name)).length >= TELLING_COLUMNS || mustHave.length >= MANY_COLUMNS;
  const like = namedLikeOutbox(table) && share >= COVERED_SHARE;
  const confidence = confidenceOf({ signed, named, typed, telling, like });
  if (confidence === null) return null;
  const companions = companionsOf(table, shape, captured ?? {}, neighbours);
  const schema = shape.match?.schema ?? tableParts(shape.table).schema;
  const inSchema = schema !== null && folded(schema) === folded(table.name.schema);
  const evidence = Number(named) * WEIGHT.name + Number(companions.length > 0) * WEIGHT.companion + Number(inSchema) * WEIGHT.schema;
  const score = WEIGHT.columns * Math.min(1, share) + evidence;
  const reasons: Reason[] = [{ code: 'columns', values: { count: mustHave.length } }];
  if (signed) reasons.push({ code: 'signature', values: { columns: signature.join(', ') } });
  if (named) reasons.push({ code: 'name', values: { table: table.name.table } });
  if (companions.length > 0)
    reasons.push({ code: 'companions', values: { tables: companions.map((one) => one.table.name.table).join(', ') } });
  if (inSchema) reasons.push({ code: 'schema', values: { schema: table.name.schema } });
  return { shape, confidence, score: Math.round(score * 100) / 100, named, companions, reasons };
}

/** Types only lower the confidence, as they vary: JSON is `longtext` on MariaDB. */
function confidenceOf(is: Record<'signed' | 'named' | 'typed' | 'telling' | 'like', boolean>): Confidence | null {
  if (is.signed) return is.typed || is.named ? 'certain' : 'likely';
  if (is.named || is.telling) return is.typed ? 'likely' : 'possible';
  return is.like ? 'possible' : null;
}

/** What the pattern captures from the name; {} if the name fits without it, null if it does not fit. */
function capturedBy(name: string, { match, table }: Shape): Record<string, string> | null {
  const captured = match?.pattern === undefined ? null : new RegExp(match.pattern, 'iu').exec(name);
  if (captured !== null) return { ...captured.groups };
  const usual = tableParts(table).table;
  const names = [...(/[{*]/.test(usual) ? [] : [usual]), ...(match?.names ?? [])];
  return names.some((one) => bare(one) === bare(name)) ? {} : null;
}

/** `timestamp` fits `timestamp without time zone`; `json` fits the types that servers without JSON use. */
function typeFits(actual: string | undefined, expected: string): boolean {
  if (actual === undefined) return true;
  const [is, want] = [folded(actual), folded(expected)];
  if (is.startsWith(want) || is.includes(want)) return true;
  const same: Record<string, RegExp> = {
    bool: /^(bool|tinyint\(1\)|bit\(1\))/, boolean: /^(bool|tinyint\(1\)|bit\(1\))/, json: /^(json|longtext|text)/, jsonb: /^(json|longtext|text)/,
    int: /int/, integer: /int/, text: /^(text|longtext|mediumtext|character varying|varchar)/, bytea: /^(bytea|.*blob|.*binary)/, enum: /./,
    varchar: /^character varying/, timestamptz: /^timestamp/, smallint: /^(smallint|tinyint)/, tinyint: /^(smallint|tinyint)/,
  }; // prettier-ignore
  return same[want]?.test(is) ?? false;
}

function companionsOf(
  table: CatalogueTable,
  { detect, companions, dead }: DetectableShape,
  captured: Record<string, string>,
  neighbours: Neighbours,
): ShapeFit['companions'] {
  const purposes = new Map<string, CandidateCompanion['purpose']>();
  const put = (ref: TableRef, purpose: CandidateCompanion['purpose']): void => void purposes.set(tableParts(ref).table, purpose);
  for (const name of detect.companions) put({ table: name }, 'other');
  for (const { table: ref, purpose } of Object.values(companions))
    put(ref, purpose === 'dead' || purpose === 'archive' ? purpose : 'other');
  if (dead !== undefined) put(dead.table, 'dead');
  const found = new Map<CatalogueTable, CandidateCompanion['purpose']>();
  for (const [name, purpose] of purposes) {
    const wanted = companionPattern(name, captured);
    for (const other of neighbours(table.name.schema))
      if (other !== table && !found.has(other) && wanted.test(bare(other.name.table))) found.set(other, purpose);
  }
  return [...found].map(([other, purpose]) => ({ table: other, purpose }));
}

function companionPattern(name: string, captured: Record<string, string>): RegExp {
  const filled = name.replace(/\{(\w+)\}/g, (_, group: string) => captured[group] ?? '*');
  const parts = filled.split('*').map((part) => bare(part).replace(/[$^()[\]{}|+?\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 'u');
}

export interface GenericFit {
  confidence: Exclude<Confidence, 'certain'>;
  score: number;
  roles: RoleColumns;
  reasons: Reason[];
  cautions: Caution[];
}

const namedLikeOutbox = (table: CatalogueTable): boolean =>
  OUTBOX_NAME.test(bare(table.name.table)) || /\boutbox\b/i.test(table.comment ?? '');

/** True for a helper table of an outbox, e.g. `outbox_offsets`; words before "outbox" only name its owner. */
function isAuxiliaryTable(table: CatalogueTable): boolean {
  const own = bare(table.name.table);
  const named = OUTBOX_NAME.exec(own);
  const after = named === null ? '' : own.slice(named.index + named[0].length);
  return AUXILIARY_WORDS.has(after) || AUXILIARY_WORDS.has(wordsOf(table.name.table).at(-1) ?? '');
}

export function genericFit(table: CatalogueTable): GenericFit | null {
  const roles = rolesOf(table);
  const named = namedLikeOutbox(table);
  if (isAuxiliaryTable(table) || ruledOut(table, roles, named)) return null;
  const { payload, type, topic, aggregateId, createdAt, publishedAt, publishedFlag, status } = roles;
  const kind = type ?? topic;
  const progress = publishedAt ?? publishedFlag ?? status;
  if (payload === undefined) return null;
  const likely = named && kind !== undefined && createdAt !== undefined && progress !== undefined;
  const possibleByName = named && (kind !== undefined || aggregateId !== undefined || createdAt !== undefined);
  // Without an outbox-like name all of these are required, and a column that means "published".
  const marker = publishedAt ?? publishedFlag;
  const possibleByColumns =
    type !== undefined && createdAt !== undefined && marker !== undefined && saysPublished(marker, type.name) && isAboutSomething(roles);
  if (!likely && !possibleByName && !possibleByColumns && !isSentOn(table, roles)) return null;
  const cautions: Caution[] = progress === undefined ? [{ code: 'rows_vanish', values: {} }] : [];
  const reasons = reasonsOf(table, roles, named);
  return { confidence: likely ? 'likely' : 'possible', score: scoreOf(roles, named), roles, reasons, cautions };
}

function ruledOut(table: CatalogueTable, roles: RoleColumns, named: boolean): boolean {
  const { strong, weak } = vetoes(table);
  if (strong.length > 0) return true;
  const speaksForItself = named && roles.payload !== undefined && (roles.publishedAt ?? roles.publishedFlag ?? roles.status) !== undefined;
  return weak.length > 0 && !(speaksForItself && weak.every((name) => roles.topic?.name === name || roles.type?.name === name));
}

const SAYS_EVENT = /event|이벤트|событ|udalost|ereignis|evento/u;
const SAYS_SENT =
  /sent|processed|acked|acknowledged|transmitted|flushed|exported|전송|отправлен|обработан|enviado|procesado|gesendet|versendet|verarbeitet|spracovan/u;

/** `completed_at` and `delivered_at` are common elsewhere: without an outbox-like name only words for publishing count. */
function saysPublished(marker: CatalogueColumn, type: string): boolean {
  const own = bare(marker.name);
  if (/publi[sc]|dispatch|emitted|relayed|forwarded|produced|발행|опубликов|odoslan|veroeffentlicht|veröffentlicht/u.test(own)) return true;
  return SAYS_SENT.test(own) && SAYS_EVENT.test(bare(type));
}

/** Named like events that go out, with the time at which they went, and no status; where the type is one of events, however it is called. */
function isSentOn(table: CatalogueTable, { type, createdAt, publishedAt, status }: RoleColumns): boolean {
  if (!EVENT_NAME.test(bare(table.name.table)) || type === undefined || createdAt === undefined || status !== undefined) return false;
  if (publishedAt === undefined || publishedAt.kind === 'text') return false;
  return SAYS_EVENT.test(bare(type.name)) || saysPublished(publishedAt, 'event');
}

/** Whether rows are events of an aggregate: a `key` or an `entity_id` alone is no evidence. */
function isAboutSomething({ aggregateId, aggregateType, type }: RoleColumns): boolean {
  if (aggregateId === undefined || bare(aggregateId.name) === 'key') return false;
  return aggregateType !== undefined || /event|message|이벤트|событ|udalost|ereignis|evento/u.test(bare(type?.name ?? ''));
}

const COUNTED = ['payload', 'type', 'topic', 'aggregateType', 'aggregateId', 'createdAt', 'publishedAt', 'publishedFlag', 'status', 'attempts', 'error', 'headers'] as const; // prettier-ignore

function scoreOf(roles: RoleColumns, named: boolean): number {
  const share = COUNTED.filter((role) => roles[role] !== undefined).length / COUNTED.length;
  return Math.round(((named ? 0.35 : 0) + 0.65 * share) * 100) / 100;
}

function reasonsOf(table: CatalogueTable, roles: RoleColumns, named: boolean): Reason[] {
  const reasons: Reason[] = named ? [{ code: 'name_word', values: { table: table.name.table } }] : [];
  const add = (code: Reason['code'], column: CatalogueColumn | undefined): void => {
    if (column !== undefined) reasons.push({ code, values: { column: column.name } });
  };
  add('role_payload', roles.payload);
  add('role_type', roles.type ?? roles.topic);
  add('role_aggregate', roles.aggregateId);
  add('role_created', roles.createdAt);
  add('progress_time', roles.publishedAt);
  add('progress_flag', roles.publishedFlag);
  add('progress_status', roles.status);
  add('claims', roles.lockedUntil ?? claimOf(roles));
  if ((roles.publishedAt ?? roles.publishedFlag ?? roles.status) === undefined) reasons.push({ code: 'rows_vanish', values: {} });
  return reasons;
}
