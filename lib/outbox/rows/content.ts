import type { Shape } from '@/lib/shape/shape';
import type { Unread } from '@/lib/shared/lists/shown';
import { tried } from '@/lib/shared/tried';

/** Values up to this size are read without being requested: in a list's rows, and on an event's own page. In bytes. */
export const READ_BYTES = 262_144;
/** Up to this size the content of one event is read on request; larger content is never read. In bytes. */
export const READ_ON_REQUEST_BYTES = 4_194_304;

/** A column's content before masking; it never leaves the server like this. */
export interface StoredContent {
  head: string | null;
  bytes: number;
  binary: boolean;
  /** Why `head` is null although there is a value; `bytes` is then the size known without reading it. */
  unread?: Unread;
  /** `bytes` is estimated from how the value is stored. */
  estimated?: boolean;
}

/** Decodes bytes or base64, possibly cut, as the shape says; content in another encoding stays as stored. */
export function decodeContent(stored: StoredContent, encoding: NonNullable<Shape['payload']>['encoding'] | undefined): StoredContent {
  if (stored.head === null) return stored;
  if (encoding === 'base64') return fromBase64(stored, stored.head) ?? stored;
  if (!stored.binary || (encoding !== 'json' && encoding !== 'text')) return stored;
  const bytes = Buffer.from(stored.head, 'hex');
  const text = textOf(bytes, bytes.length < stored.bytes);
  return text === null ? stored : { ...stored, head: text, binary: false };
}

/** Four characters encode three bytes; an incomplete group at the end of a cut text is dropped. */
function fromBase64({ bytes, binary }: StoredContent, head: string): StoredContent | null {
  const written = (binary ? Buffer.from(head, 'hex').toString('latin1') : head).replace(/[\r\n]/g, '');
  const isCut = (binary ? head.length / 2 : Buffer.byteLength(head)) < bytes;
  const whole = isCut ? written.slice(0, written.length - (written.length % 4)) : written;
  if (whole.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(whole)) return null;
  const decoded = Buffer.from(whole, 'base64');
  const text = textOf(decoded, isCut);
  const size = isCut ? Math.floor((bytes * 3) / 4) : decoded.length;
  return { head: text ?? decoded.toString('hex'), bytes: size, binary: text === null };
}

/** null if the bytes are not UTF-8 or contain NUL; an incomplete character at the end of a cut text is dropped. */
function textOf(bytes: Buffer, isCut: boolean): string | null {
  const text = tried(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut }));
  return text === undefined || text.includes('\u0000') ? null : text;
}
