/** The rule for tables no library made: what the names of table and columns say, and what rules an outbox out. */
import type { CatalogueColumn, CatalogueTable } from '@/lib/database/catalogue';
import type { Caution, Confidence, Reason } from '@/lib/shared/detection';
import { BESIDE_WORDS, OUTBOX_NAME } from './dictionary';
import { bare, wordsOf } from './names';
import { rolesOf, vetoes, type RoleColumns } from './roles';

export interface GenericFit {
  confidence: Exclude<Confidence, 'certain'>;
  score: number;
  roles: RoleColumns;
  reasons: Reason[];
  cautions: Caution[];
}

/** True when the table is called what outboxes are called. */
export function namedLikeOutbox(table: CatalogueTable): boolean {
  return OUTBOX_NAME.test(bare(table.name.table)) || /\boutbox\b/i.test(table.comment ?? '');
}

/** True for a table that stands beside an outbox, `outbox_offsets`: what comes before the outbox says whose it is. */
export function standsBeside(table: CatalogueTable): boolean {
  const own = bare(table.name.table);
  const named = OUTBOX_NAME.exec(own);
  const after = named === null ? '' : own.slice(named.index + named[0].length);
  return BESIDE_WORDS.has(after) || BESIDE_WORDS.has(wordsOf(table.name.table).at(-1) ?? '');
}

/** How well a table fits as an outbox that somebody made by hand; null when it is none. */
export function genericFit(table: CatalogueTable): GenericFit | null {
  const roles = rolesOf(table);
  const named = namedLikeOutbox(table);
  if (standsBeside(table) || ruledOut(table, roles, named)) return null;
  const { payload, type, topic, aggregateId, createdAt, publishedAt, publishedFlag, status } = roles;
  const kind = type ?? topic;
  const progress = publishedAt ?? publishedFlag ?? status;
  if (payload === undefined) return null;
  const likely = named && kind !== undefined && createdAt !== undefined && progress !== undefined;
  const possibleByName = named && (kind !== undefined || aggregateId !== undefined || createdAt !== undefined);
  // Nobody called it an outbox: then all of it has to be there, and a column that says "published".
  const marker = publishedAt ?? publishedFlag;
  const possibleByColumns =
    type !== undefined && createdAt !== undefined && marker !== undefined && saysPublished(marker, type) && isAboutSomething(roles);
  if (!likely && !possibleByName && !possibleByColumns) return null;
  return {
    confidence: likely ? 'likely' : 'possible',
    score: scoreOf(roles, named),
    roles,
    reasons: reasonsOf(table, roles, named),
    cautions: progress === undefined ? [{ code: 'rows_vanish', values: {} }] : [],
  };
}

function ruledOut(table: CatalogueTable, roles: RoleColumns, named: boolean): boolean {
  const { strong, weak } = vetoes(table);
  if (strong.length > 0) return true;
  const speaksForItself = named && roles.payload !== undefined && (roles.publishedAt ?? roles.publishedFlag ?? roles.status) !== undefined;
  return weak.length > 0 && !(speaksForItself && weak.every((name) => roles.topic?.name === name || roles.type?.name === name));
}

/** `completed_at` and `delivered_at` are on half the tables of the world: without a name only letting go of an event counts. */
function saysPublished(marker: CatalogueColumn, type: CatalogueColumn): boolean {
  const own = bare(marker.name);
  if (/publi[sc]|dispatch|emitted|relayed|forwarded|produced|발행|опубликов|odoslan|veroeffentlicht|veröffentlicht/u.test(own)) return true;
  return (
    /sent|processed|전송|отправлен|обработан|enviado|procesado|gesendet|versendet|verarbeitet|spracovan/u.test(own) &&
    /event|이벤트|событ|udalost|ereignis|evento/u.test(bare(type.name))
  );
}

/** The events of an aggregate: a `key` or an `entity_id` alone says no more than that the table has rows. */
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
  const said: Reason[] = named ? [{ code: 'name_word', values: { table: table.name.table } }] : [];
  const add = (code: Reason['code'], column: CatalogueColumn | undefined): void => {
    if (column !== undefined) said.push({ code, values: { column: column.name } });
  };
  add('role_payload', roles.payload);
  add('role_type', roles.type ?? roles.topic);
  add('role_aggregate', roles.aggregateId);
  add('role_created', roles.createdAt);
  add('progress_time', roles.publishedAt);
  add('progress_flag', roles.publishedFlag);
  add('progress_status', roles.status);
  add('claims', roles.lockedUntil ?? roles.lockedBy ?? roles.attemptedAt);
  if ((roles.publishedAt ?? roles.publishedFlag ?? roles.status) === undefined) said.push({ code: 'rows_vanish', values: {} });
  return said;
}
