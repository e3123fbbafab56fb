import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { MASK, type Content } from '@/lib/shared/lists/shown';
import type { OutboxEvent } from '@/lib/shared/model';
import { tried } from '@/lib/shared/tried';
import { decodeContent, type StoredContent } from '../rows/content';
import { hiddenFields } from './hidden-fields';
import { advance, isSensitive, maskedPaths } from '@/lib/shared/lists/masked-paths';
import { maskText } from './mask-text';
import type { Outbox } from '../outbox';

const MAX_DEPTH = 64;

/** Content as this viewer may see it. Content that cannot be searched for masked paths is withheld; sizes are of what is shown. */
export function presentContent(outbox: Outbox, role: 'payload' | 'headers', stored: StoredContent, unmask: boolean): Content {
  const head = stored.head;
  const shownBytes = head === null ? 0 : stored.binary ? head.length / 2 : Buffer.byteLength(head);
  const cut = shownBytes < stored.bytes;
  const warning = role === 'payload' ? (outbox.shape.payload?.warn ?? null) : null;
  const estimated = stored.estimated === true;
  // How well a value compresses reveals something about it.
  const bytes = estimated && !unmask ? null : stored.bytes;
  const base = { bytes, bytesKnown: estimated ? 'estimated' : 'exact', unread: stored.unread ?? null, shownBytes, cut, warning } as const;
  const hidden = (text: string | null): Pick<Content, 'text' | 'bytes' | 'shownBytes' | 'masked'> => {
    const size = Buffer.byteLength(text ?? '');
    return { text, bytes: size, shownBytes: size, masked: true };
  };
  // Nothing is shown that could be misread.
  if (head === null) return { ...base, text: null, format: 'text', masked: false, cut: false, warning: null };
  if (stored.binary) return { ...base, text: head, format: 'binary', masked: false, ...(unmask ? {} : hidden(null)) };
  const tree = cut ? undefined : parseJson(head);
  const format = tree !== undefined || (cut && LOOKS_LIKE_JSON.test(head)) ? 'json' : 'text';
  const clear: Content = { ...base, text: head, format, masked: false };
  if (unmask) return clear;
  if (tree === undefined) {
    // Not JSON, so no path finds what is to be masked in it: withheld if it is cut, looks like JSON, or any path is configured.
    if (cut || outbox.settings.mask.length > 0 || LOOKS_LIKE_JSON.test(head)) return { ...clear, ...hidden(null) };
    const text = maskText(head);
    return text === head ? clear : { ...clear, ...hidden(text) };
  }
  let masked = false;
  const value = maskTree(tree, maskedPaths(outbox.settings.mask, role), () => (masked = true));
  return masked ? { ...clear, ...hidden(stringify(value) ?? null) } : clear;
}

const LOOKS_LIKE_JSON = /^\s*[[{]/;

/** The last of duplicate keys counts, as elsewhere: if they were refused, the document would be text without paths. */
const parseJson = (text: string): unknown => tried(() => parse(text, null, { onDuplicateKey: ({ newValue }) => newValue }));

/** Replaces every masked value, even null; values nested deeper than 64 levels are masked instead of searched. */
function maskTree(root: unknown, paths: string[][], hidden: (value: unknown) => void): unknown {
  const hide = (value: unknown): string => {
    hidden(value);
    return MASK;
  };
  const walk = (value: unknown, active: string[][], depth: number): unknown => {
    if (active.some((path) => path.length === 0)) return hide(value);
    if (!isTree(value)) return value;
    if (depth > MAX_DEPTH) return hide(value);
    const step = (key: string, child: unknown): unknown => {
      if (isSensitive(key) && !Array.isArray(value)) return hide(child);
      const further = active.flatMap((path) => advance(path, key));
      return walk(child, further, depth + 1);
    };
    if (Array.isArray(value)) return value.map((child, index) => step(String(index), child));
    // Not by assignment: a key called __proto__ is data here.
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, step(key, child)]));
  };
  return walk(root, paths, 0);
}

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null && !isLosslessNumber(value);

const scalarsOf = (value: unknown): string[] => {
  if (isTree(value)) return Object.values(value).flatMap(scalarsOf);
  return value === null || value === '' ? [] : [String(value)];
};

/** Hides the fields that are read from a masked path of the payload or headers. */
export function presentEvent<E extends OutboxEvent>(outbox: Outbox, event: E, unmask: boolean): E {
  const hidden = hiddenFields(outbox.settings);
  if (unmask || hidden.size === 0) return event;
  return { ...event, ...Object.fromEntries([...hidden].map((field) => [field, null])) };
}

/** Hidden values as an error may quote them; null if something is masked and the content has no paths to find it by. */
export function hiddenValues(outbox: Outbox, role: 'payload' | 'headers', stored: StoredContent | null): string[] | null {
  // Binary content is never shown, but may be text, which an error can quote.
  const readable = stored?.binary === true ? decodeContent(stored, 'text') : stored;
  if (readable === null || readable.head === null || readable.head === '') return [];
  const unsearched = outbox.settings.mask.length > 0 ? null : [];
  if (readable.binary) return unsearched;
  const tree = parseJson(readable.head);
  if (tree === undefined) return LOOKS_LIKE_JSON.test(readable.head) ? scalarsIn(readable.head) : unsearched;
  const covered: unknown[] = [];
  maskTree(tree, maskedPaths(outbox.settings.mask, role), (value) => covered.push(value));
  return covered.flatMap(scalarsOf);
}

/** Which values of a cut document are masked is unknown: all scalars found in it count as hidden. */
function scalarsIn(cut: string): string[] {
  const found = new Set<string>();
  for (const [, text, colon, number] of cut.matchAll(/"((?:[^"\\]|\\.)*)"(\s*:)?|(-?\d+(?:\.\d+)?)/g)) {
    const value = colon !== undefined ? null : text === undefined ? number : parseJson(`"${text}"`);
    if (typeof value === 'string' && value !== '') found.add(value);
  }
  return [...found];
}
