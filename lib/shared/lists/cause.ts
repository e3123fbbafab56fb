import { CARD_DIGITS, MASK } from './shown';
import type { Cause } from '../model';

/**
 * The cause of a failure is its event type and its error's template: the error text the viewer may see, with ids, addresses, numbers,
 * quoted values and masked ones replaced. So a hundred rows of one cause are counted as one.
 */

/** Raised when a text gets another template, so that stored templates are known to be outdated. */
export const CAUSE_VERSION = 4;

/** Replaces the parts in which texts of one cause differ. */
export const VARIABLE = '…';

/** Only the beginning of an error decides its cause. */
const CAUSE_CHARACTERS = 300;
export const causeText = (error: string): string => [...error].slice(0, CAUSE_CHARACTERS).join('');

/** Most specific first: a UUID is not four numbers, nor a card's number within it. */
const VARIABLES: [RegExp, string][] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, VARIABLE],
  // A number that looks like a card may be masked in one row only: both become the same.
  [CARD_DIGITS, VARIABLE],
  [new RegExp(MASK, 'g'), VARIABLE],
  // An apostrophe within a word opens no quote.
  [/(?<![\p{L}\p{N}])(["'`])(?!\1)(?:(?!\1)[^\n]){1,200}\1(?![\p{L}\p{N}])/gu, `$1${VARIABLE}$1`],
  [/\b0x[0-9a-f]+\b/gi, VARIABLE],
  [/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?/g, VARIABLE],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g, VARIABLE],
  // Hexadecimal with at least one digit: a request id, not the word "facade".
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, VARIABLE],
  [/\d+(?:[.,]\d+)*/g, VARIABLE],
];

/** "order-98078: version 19 expected" → "order-…: version … expected". A leading status number, such as gRPC's "14 UNAVAILABLE", stays. */
export function errorTemplate(error: string): string {
  const beginning = causeText(error);
  // Masked completely: it may contain anything.
  if (beginning === MASK) return MASK;
  const code = /^\d{1,5}(?= [A-Z][A-Z_]+\b)/.exec(beginning)?.[0] ?? '';
  return code + VARIABLES.reduce((text, [pattern, by]) => text.replace(pattern, by), beginning.slice(code.length));
}

/** Whether two events died of the same cause, by their types and the error texts the viewer may see. */
export function isSameCause(a: Cause, b: Cause): boolean {
  if (a.type !== b.type) return false;
  return a.error === null || b.error === null ? a.error === b.error : errorTemplate(a.error) === errorTemplate(b.error);
}
