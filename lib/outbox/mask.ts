import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { MASK } from '@/lib/shared/masked';
import type { Content, OutboxEvent } from '@/lib/shared/model';
import { decodeContent, type StoredContent } from './content';
import type { Outbox } from './outbox';
import { rawSteps } from './paths';

const MAX_DEPTH = 64;
/** Characters: shorter values are part of too many words. */
const SHORTEST_HIDDEN = 3;

/** Keys that are hidden from roles without `payload:unmask` even when no path names them. */
export const SENSITIVE_KEYS =
  'pass(?:word|wd|phrase)?|secret|client_?secret|token|(?:access|refresh|id)_?token|api_?key|authorization|cookie|cvv2?|cvc|pan|card_?number|iban|ssn|e_?mail|phone(?:_?number)?|private_?key';
const SENSITIVE_KEY = new RegExp(`^(?:${SENSITIVE_KEYS})$`, 'i');

interface MaskRules {
  /** Paths into this content; `*` stands for every key or index, `**` for any depth. */
  paths: string[][];
}

/** The paths of the configuration that speak of this column. A path without `payload` or `headers` in front speaks of both. */
function rulesFor(outbox: Outbox, role: 'payload' | 'headers'): MaskRules {
  const paths = outbox.settings.mask.flatMap((text) => {
    const steps = rawSteps(text.replace(/^\$\.?/, ''));
    if (steps[0] === role) return [steps.slice(1)];
    return steps[0] === 'payload' || steps[0] === 'headers' ? [] : [steps];
  });
  return { paths };
}

/**
 * A payload or headers as this viewer may see it. JSON keeps its digits. What cannot be parsed, or is cut and so
 * cannot be searched for masked paths, is withheld whole from roles that may not see it in the clear.
 */
export function presentContent(outbox: Outbox, role: 'payload' | 'headers', stored: StoredContent, unmask: boolean): Content {
  const head = stored.head;
  const shownBytes = head === null ? 0 : stored.binary ? head.length / 2 : Buffer.byteLength(head);
  const cut = shownBytes < stored.bytes;
  const warning = role === 'payload' ? (outbox.shape.payload?.warn ?? null) : null;
  const base = { bytes: stored.bytes, shownBytes, cut, warning };
  // There is nothing to be read wrongly.
  if (head === null) return { ...base, text: null, format: 'text', masked: false, warning: null };
  if (stored.binary)
    return unmask
      ? { ...base, text: head, format: 'binary', masked: false }
      : { ...base, text: null, shownBytes: 0, format: 'binary', masked: true };
  const tree = cut ? undefined : parseJson(head);
  if (tree === undefined) {
    // Text that is no JSON has no paths, and the configuration has told that something in here is not for everyone.
    const withheld = !unmask && (cut || outbox.settings.mask.length > 0);
    const looksLikeJson = cut && /^\s*[[{]/.test(head);
    return {
      ...base,
      text: withheld ? null : head,
      shownBytes: withheld ? 0 : shownBytes,
      format: looksLikeJson ? 'json' : 'text',
      masked: withheld,
    };
  }
  if (unmask) return { ...base, text: head, format: 'json', masked: false };
  const { value, masked } = maskTree(tree, rulesFor(outbox, role));
  return { ...base, text: masked ? (stringify(value) ?? null) : head, format: 'json', masked };
}

function parseJson(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** Replaces every masked value; nesting beyond 64 levels is masked rather than walked. */
export function maskTree(root: unknown, rules: MaskRules): { value: unknown; masked: boolean } {
  let masked = false;
  const hide = (value: unknown): unknown => {
    if (value === null) return null;
    masked = true;
    return MASK;
  };
  const walk = (value: unknown, active: string[][], depth: number): unknown => {
    if (active.some((path) => path.length === 0)) return hide(value);
    if (value === null || typeof value !== 'object' || isLosslessNumber(value)) return value;
    if (depth > MAX_DEPTH) return hide(value);
    const step = (key: string, child: unknown): unknown => {
      if (SENSITIVE_KEY.test(key) && !Array.isArray(value)) return hide(child);
      return walk(
        child,
        active.flatMap((path) => advance(path, key)),
        depth + 1,
      );
    };
    if (Array.isArray(value)) return value.map((child, index) => step(String(index), child));
    // Entries, not assignment: a key called __proto__ is data here.
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, step(key, child)]));
  };
  const value = walk(root, rules.paths, 0);
  return { value, masked };
}

function advance(path: string[], key: string): string[][] {
  const [head, ...rest] = path;
  if (head === undefined) return [];
  if (head === '**') return [path, ...advance(rest, key)];
  return head === '*' || head === key ? [rest] : [];
}

/** Fields that are read out of the payload or headers, hidden where a masked path covers them. */
export function presentEvent(outbox: Outbox, event: OutboxEvent, unmask: boolean): OutboxEvent {
  if (unmask || outbox.settings.mask.length === 0) return event;
  const payload = rulesFor(outbox, 'payload').paths;
  const headers = rulesFor(outbox, 'headers').paths;
  const covered = (paths: string[][], steps: string[] | null | undefined): boolean =>
    steps !== null && steps !== undefined && paths.some((path) => covers(path, steps));
  const trace = outbox.main.roles.traceId;
  const traceHidden =
    trace !== undefined &&
    trace.path.length > 0 &&
    covered(trace.column.name === outbox.main.roles.headers?.column.name ? headers : payload, trace.path);
  return {
    ...event,
    amount: covered(payload, outbox.amount?.value) ? null : event.amount,
    currency: covered(payload, outbox.amount?.currency) ? null : event.currency,
    traceId: traceHidden ? null : event.traceId,
  };
}

/** True when masking `path` hides the value at `steps`. */
function covers(path: string[], steps: string[]): boolean {
  let active = [path];
  for (const step of steps) {
    if (active.some((left) => left.length === 0)) return true;
    active = active.flatMap((left) => advance(left, step));
  }
  return active.some((left) => left.length === 0);
}

/** Values of three characters or more that the masked paths and the well-known keys hide, as texts: an error message may quote them. */
export function hiddenValues(outbox: Outbox, role: 'payload' | 'headers', stored: StoredContent | null): string[] {
  // Bytes nobody is shown may be text all the same, and an error quotes them.
  const readable = stored?.binary === true ? decodeContent(stored, 'text') : stored;
  if (readable === null || readable.head === null || readable.binary) return [];
  const tree = parseJson(readable.head);
  if (tree === undefined) return /^\s*[[{]/.test(readable.head) ? scalarsIn(readable.head) : [];
  const found: string[] = [];
  const walk = (value: unknown, active: string[][], hidden: boolean, depth: number): void => {
    const covered = hidden || active.some((path) => path.length === 0);
    if (value === null || depth > MAX_DEPTH) return;
    if (typeof value !== 'object' || isLosslessNumber(value)) {
      if (covered && String(value).length >= SHORTEST_HIDDEN) found.push(String(value));
      return;
    }
    for (const [key, child] of Object.entries(value)) {
      walk(
        child,
        active.flatMap((path) => advance(path, key)),
        covered || (SENSITIVE_KEY.test(key) && !Array.isArray(value)),
        depth + 1,
      );
    }
  };
  walk(tree, rulesFor(outbox, role).paths, false, 0);
  return found;
}

/** Of a document that was cut nobody can say which values are masked: none of those that can be read is quoted. */
function scalarsIn(cut: string): string[] {
  const found = new Set<string>();
  for (const [, text, colon, number] of cut.matchAll(/"((?:[^"\\]|\\.)*)"(\s*:)?|(-?\d+(?:\.\d+)?)/g)) {
    const value = colon !== undefined ? null : text === undefined ? number : parseJson(`"${text}"`);
    if (typeof value === 'string' && value.length >= 4) found.add(value);
  }
  return [...found];
}

/** An error this long may have been cut, in the middle of a value it quotes. */
const MAY_BE_CUT_CHARACTERS = 300;

/** The error text with hidden values masked, and the beginning of one that it was cut in. */
export function presentError(error: string | null, hidden: string[]): string | null {
  if (error === null) return null;
  const values = [...hidden].sort((a, b) => b.length - a.length);
  const begun = error.length < MAY_BE_CUT_CHARACTERS ? 0 : Math.max(0, ...values.map((value) => beginningAtTheEnd(error, value)));
  const whole = begun === 0 ? error : error.slice(0, -begun);
  return values.reduce((text, value) => text.replaceAll(value, MASK), whole) + (begun === 0 ? '' : MASK);
}

/** How many characters at the end of `error` are the beginning of `value`, and not all of it: three at least, otherwise 0. */
function beginningAtTheEnd(error: string, value: string): number {
  const start = value.slice(0, SHORTEST_HIDDEN);
  let at = error.indexOf(start, error.length - value.length + 1);
  while (at >= 0 && !value.startsWith(error.slice(at))) at = error.indexOf(start, at + 1);
  return at < 0 ? 0 : error.length - at;
}
