import { CARD_DIGITS, MASK } from './shown';
import type { Cause } from '../model';

/** A cause is an event type and the template of an error, as the viewer may see it: a hundred rows of one cause are counted as one. */

/** Replaces the parts in which texts of one cause differ. */
export const VARIABLE = '…';

/** The version of the rules below, part of every fingerprint: raise it with any change that gives some error another template. */
export const CAUSE_RULES = 1;

/** Only the beginning of an error decides its cause. */
export const CAUSE_CHARACTERS = 300;
export const causeText = (error: string): string => [...error].slice(0, CAUSE_CHARACTERS).join('');

/** As the rule for numbers reads one; a template has `…` in its place, and must be its own template. */
const NUMBER = String.raw`(?:\d+(?:[.,]\d+)*|…)`;
/** Last labels of a host's name: other words with dots, such as a class, are none. */
const HOST_ENDS = 'internal|local|localdomain|lan|corp|svc|cluster|com|net|org|io|dev|cloud';
/** Where a file with source code ends, a number after a colon is a line. */
const SOURCE_ENDS = 'java|js|mjs|ts|py|go|rb|rs|cs|php|kt|scala';
const HOSTS = [
  // Of a URL, with its port.
  String.raw`(?<=:\/\/)[^\s/?#"'\`,;()<>]*[^\s/?#"'\`,;()<>:.]`,
  // After words that announce one.
  String.raw`(?<=(?<![\w…])(?:getaddrinfo E[A-Z_]+ |host(?:name)?=)|UnknownHostException: )[^\s:,;()"'\`]+`,
  String.raw`(?<=(?<![\w…])lookup )[^\s:,;()"'\`]+(?= on )`,
  String.raw`(?<![\w.…-])[a-z0-9_…-]+(?:\.[a-z0-9_…-]+)*\.(?:${HOST_ENDS})(?::${NUMBER})?(?![\w…-]|\.[\w…])`,
  // A name that is no plain word, with a port: `kafka-3:9092`.
  String.raw`(?<![\w.…-])(?=[a-z0-9_.…-]*[a-z])(?=[a-z_]*[0-9.…-])[a-z0-9_.…-]*[a-z0-9…](?<!\.(?:${SOURCE_ENDS})):${NUMBER}(?![\w…])`,
].map((pattern): [RegExp, string] => [new RegExp(pattern, 'g'), VARIABLE]);

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
  ...HOSTS,
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

export function isSameCause(a: Cause, b: Cause): boolean {
  if (a.type !== b.type) return false;
  return a.error === null || b.error === null ? a.error === b.error : errorTemplate(a.error) === errorTemplate(b.error);
}
