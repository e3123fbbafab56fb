import type { Shape } from '@/lib/shape/shape';
import type { Unread } from '@/lib/shared/lists/shown';

/** Values up to this size are read without being asked for: of a list's rows, and on an event's own page. In bytes. */
export const READ_BYTES = 262_144;
/** Up to this size the content of one event is read for whoever asks for it; beyond it never. In bytes. */
export const READ_ON_REQUEST_BYTES = 4_194_304;

/** A column's content: nothing masked yet, so this never leaves the server as it is. */
export interface StoredContent {
  head: string | null;
  bytes: number;
  binary: boolean;
  /** Why there is no `head` although there is a value; `bytes` is then as told without reading it. */
  unread?: Unread;
  /** `bytes` is what the value is taken to be from how it is stored. */
  estimated?: boolean;
}

type Encoding = NonNullable<Shape['payload']>['encoding'];

/** Content as its writer meant it, out of bytes or base64, cut anywhere; what is not what the shape says stays as it is stored. */
export function decodeContent(stored: StoredContent, encoding: Encoding | undefined): StoredContent {
  if (stored.head === null) return stored;
  if (encoding === 'base64') return fromBase64(stored, stored.head) ?? stored;
  if (!stored.binary || (encoding !== 'json' && encoding !== 'text')) return stored;
  const bytes = Buffer.from(stored.head, 'hex');
  const text = textOf(bytes, bytes.length < stored.bytes);
  return text === null ? stored : { ...stored, head: text, binary: false };
}

/** Four characters are three bytes; what is left of a text that was cut is not decoded. */
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

/** null where the bytes are no UTF-8; a character that was cut in two at the end is left out. */
function textOf(bytes: Buffer, isCut: boolean): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
    return text.includes('\u0000') ? null : text;
  } catch {
    return null;
  }
}
