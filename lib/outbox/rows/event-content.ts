import { sql, type RawBuilder } from 'kysely';
import { printsAsDigits } from '@/lib/database/column-text';
import { DatabaseFailure } from '@/lib/database/failure';
import { outsideRequests } from '@/lib/shared/async/outside-requests';
import { decodeContent, type StoredContent, READ_BYTES, READ_ON_REQUEST_BYTES } from './content';
import type { StoredEvent } from './get-event';
import type { Outbox } from '../outbox';
import type { Place } from '@/lib/shape/bound';
import { NO_TEXT, placeSql, WHOLE_ERROR_CHARACTERS, type PlaceSql } from './row';
import { roleSql } from './role-sql';
import { decodeVersion } from './version';

/** An event's content before masking; it never leaves the server like this. */
export interface EventContent {
  payload: StoredContent;
  headers: StoredContent | null;
  /** The error text, up to WHOLE_ERROR_CHARACTERS; null if the row has none, or it could not be read. */
  error: string | null;
}

/** Characters of content cached over all outboxes. */
const REMEMBERED_CHARACTERS = 8_388_608;
const AGAIN_MS = 30_000;
/** Errors of a slow server, or one without free connections; all others are thrown. */
const NOT_NOW: readonly string[] = ['timeout', 'busy', 'connection'];

type Content = 'payload' | 'headers';

type ContentRow = Record<`${Content}_head` | `${Content}_bytes` | 'error', string | null> & { exact: string };

type Remembered = { outbox: Outbox; content: Promise<EventContent>; characters: number };

/** By outbox, row and version; the last used comes last. */
const remembered = new Map<string, Remembered>();

/** Read once per version of its row, one at a time per server; not values above 256 kB (4 MB with `full`). By the primary key. */
export function contentOf(outbox: Outbox, { place, event }: StoredEvent, full: boolean): Promise<EventContent> {
  const exact = decodeVersion(event.version)?.exact ?? '';
  const key = JSON.stringify([outbox.id, place, event.id, event.version, full]);
  const known = remembered.get(key);
  remembered.delete(key);
  if (known?.outbox === outbox) {
    remembered.set(key, known);
    return known.content;
  }
  const forget = (): void => {
    if (remembered.get(key) === entry) remembered.delete(key);
  };
  const keep = (found: Awaited<ReturnType<typeof readContent>>): EventContent => {
    entry.characters = charactersOf(found.content);
    // The row changed meanwhile: its next version is read again.
    if (found.exact !== exact) forget();
    makeRoom();
    return found.content;
  };
  const giveUp = (error: unknown): EventContent => {
    if (!(error instanceof DatabaseFailure) || !NOT_NOW.includes(error.code)) {
      forget();
      throw error;
    }
    setTimeout(forget, AGAIN_MS).unref();
    return notNow(outbox, place);
  };
  const content = outsideRequests(() => readContent(outbox, place, event.id, full).then(keep, giveUp));
  const entry: Remembered = { outbox, content, characters: 0 };
  remembered.set(key, entry);
  return content;
}

/** Content that could not be read now; nothing else is known of it. */
export function notNow(outbox: Outbox, place: Place['key']): EventContent {
  const unread: StoredContent = { head: null, bytes: 0, binary: false, unread: 'not_now', estimated: true };
  return { payload: unread, headers: placeOf(outbox, place).roles.headers === undefined ? null : unread, error: null };
}

const placeOf = (outbox: Outbox, key: Place['key']): Place => (key === 'main' ? outbox.main : outbox[key]) ?? outbox.main;

const charactersOf = ({ payload, headers, error }: EventContent): number =>
  [payload.head, headers?.head, error].reduce((sum, text) => sum + (text?.length ?? 0), 0);

function makeRoom(): void {
  let kept = [...remembered.values()].reduce((sum, { characters }) => sum + characters, 0);
  for (const [key, { characters }] of remembered) {
    if (kept <= REMEMBERED_CHARACTERS && remembered.size <= REMEMBERED_EVENTS) return;
    remembered.delete(key);
    kept -= characters;
  }
}

/** Bounds the number of small entries. */
const REMEMBERED_EVENTS = 500;

async function readContent(outbox: Outbox, placeKey: Place['key'], id: string, full: boolean) {
  const at = placeSql(outbox, placeOf(outbox, placeKey));
  const most = full ? READ_ON_REQUEST_BYTES : READ_BYTES;
  const { rows } = await outbox.database.readContent((db) =>
    sql<ContentRow>`select ${at.exact} as exact, ${contentColumns(outbox, at, 'payload', most)}, ${contentColumns(outbox, at, 'headers', most)},
      ${at.roleHead('error', WHOLE_ERROR_CHARACTERS)} as error
      from ${at.from} where ${at.id.is(id)} limit 1`.execute(db),
  );
  const row = rows[0];
  // The row is gone: there is nothing to show or to cache.
  if (row === undefined) return { exact: null, content: notNow(outbox, placeKey) };
  return {
    exact: row.exact,
    content: {
      payload: decodeContent(stored(outbox, at, 'payload', row, most), outbox.shape.payload?.encoding),
      headers: at.role('headers') === null ? null : decodeContent(stored(outbox, at, 'headers', row, most), outbox.shape.headers?.encoding),
      error: row.error,
    },
  };
}

/** Checks the size of the document that holds the value before reading it. */
function contentColumns(outbox: Outbox, at: PlaceSql, role: Content, most: number): RawBuilder<unknown> {
  const { fragments } = outbox.database.engine;
  const column = roleSql(outbox, at.place, role, at.alias, most);
  const size = at.roleSize(role);
  // Bytes are read as two hexadecimal digits each.
  const characters = printsAsDigits(column?.description) ? 2 * most : most + 1;
  const head = column === null ? NO_TEXT : fragments.head(column.sql, column.description, characters);
  return sql`${size === null ? head : sql`case when ${size} <= ${sql.lit(most)} then ${head} end`} as ${sql.id(`${role}_head`)},
    ${size === null ? NO_TEXT : fragments.asText(size)} as ${sql.id(`${role}_bytes`)}`;
}

function stored(outbox: Outbox, at: PlaceSql, role: Content, row: ContentRow, most: number): StoredContent {
  const column = at.role(role);
  const bound = at.place.roles[role];
  const head = row[`${role}_head`];
  const binary = printsAsDigits(column?.description);
  const size = Number(row[`${role}_bytes`] ?? 0);
  const estimated = bound !== undefined && !outbox.database.engine.fragments.tellsSize(bound.column);
  if (head === null)
    return size <= most
      ? { head, bytes: 0, binary }
      : { head, bytes: size, binary, estimated, unread: size <= READ_ON_REQUEST_BYTES ? 'on_request' : 'too_large' };
  const shown = binary ? head.length / 2 : Buffer.byteLength(head);
  // A document larger than estimated.
  const isCut = !binary && head.length > most;
  return isCut ? { head, bytes: Math.max(size, shown + 1), binary, estimated: true } : { head, bytes: shown, binary };
}
