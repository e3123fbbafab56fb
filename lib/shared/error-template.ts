import { MASK } from './masked';

/**
 * Error texts of one cause differ in ids, addresses and numbers only. The template of a text has these replaced, so
 * that a hundred rows of one cause are counted as one.
 */

/** Stands where the texts of a cause differ. */
export const VARIABLE = '…';

/** From the most telling to the plainest: a UUID is not four numbers. */
const VARIABLES = [
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  /\b0x[0-9a-f]+\b/gi,
  /\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?/g,
  /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g,
  // Hexadecimal of some length with at least one digit: a request id, not the word "facade".
  /\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi,
  /\d+(?:[.,]\d+)*/g,
];

/** "order-98078: version 19 expected" → "order-…: version … expected". The text before a code, such as gRPC's "14 UNAVAILABLE", stays. */
export function errorTemplate(error: string): string {
  const code = /^\d{1,5}(?= [A-Z][A-Z_]+\b)/.exec(error)?.[0] ?? '';
  return code + VARIABLES.reduce((text, pattern) => text.replace(pattern, VARIABLE), error.slice(code.length));
}

/** The longest stretch of a template that every text of the cause holds, to search for, masked places left out; '' when none is telling. */
export function constantPart(template: string): string {
  const parts = template.split(MASK).flatMap((part) => part.split(VARIABLE).map((stretch) => stretch.trim()));
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), '');
  return longest.length < SHORTEST_TELLING ? '' : longest;
}

const SHORTEST_TELLING = 4;
