import { MASK } from '@/lib/shared/masked';

/** An error this long may have been cut, in the middle of a value it quotes. */
const MAY_BE_CUT_CHARACTERS = 300;
/** Characters: a shorter value is part of too many words, and is looked for as a word of its own. */
const SHORTEST_WITHIN = 3;
/** Digits: fewer are part of too many numbers. */
const SHORT_NUMBER = /^\d{1,5}$/;
const WORD = /[\p{L}\p{N}]/u;
const DIGIT = /\d/;

type Stretch = [from: number, to: number];

/**
 * The error text with hidden values masked, plain or as JSON and addresses write them, and the beginning of one that it was
 * cut in. What is masked follows from where values stand and from their lengths, never from their characters.
 */
export function presentError(error: string | null, hidden: string[], isCut = false): string | null {
  if (error === null) return null;
  const values = [...new Set(hidden.flatMap(spellings))].filter((value) => value !== '');
  const stretches = [...values.flatMap((value) => quotes(error, value)), ...cutEnd(error, values, isCut)];
  let shown = '';
  let at = 0;
  for (const [from, to] of joined(stretches)) {
    shown += error.slice(at, from) + MASK;
    at = to;
  }
  return shown + error.slice(at);
}

function spellings(value: string): string[] {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())];
}

function quotes(error: string, value: string): Stretch[] {
  const found: Stretch[] = [];
  for (let from = error.indexOf(value); from >= 0; from = error.indexOf(value, from + 1)) {
    const to = from + value.length;
    if (![error.charAt(from - 1), error.charAt(to)].some((beside) => isPartOf(value, beside))) found.push([from, to]);
  }
  return found;
}

function isPartOf(value: string, beside: string): boolean {
  if (value.length < SHORTEST_WITHIN) return WORD.test(beside);
  return SHORT_NUMBER.test(value) && DIGIT.test(beside);
}

/** Of a text that is cut the last characters may be the first of a value: so few that it cannot be told are never shown. */
function cutEnd(error: string, values: string[], isCut: boolean): Stretch[] {
  if (error.length < MAY_BE_CUT_CHARACTERS || values.length === 0) return [];
  const begun = Math.max(isCut ? SHORTEST_WITHIN - 1 : 0, ...values.map((value) => beginningAtTheEnd(error, value)));
  return begun === 0 ? [] : [[error.length - begun, error.length]];
}

/** How many characters at the end of `error` are the beginning of `value`, and not all of it: three at least, otherwise 0. */
function beginningAtTheEnd(error: string, value: string): number {
  const start = value.slice(0, SHORTEST_WITHIN);
  let at = error.indexOf(start, Math.max(0, error.length - value.length + 1));
  while (at >= 0 && !value.startsWith(error.slice(at))) at = error.indexOf(start, at + 1);
  return at < 0 ? 0 : error.length - at;
}

/** In their order, those that touch made one: two values side by side are not told apart. */
function joined(stretches: Stretch[]): Stretch[] {
  const sorted = stretches.toSorted((a, b) => a[0] - b[0]);
  const found: Stretch[] = [];
  for (const [from, to] of sorted) {
    const last = found.at(-1);
    if (last === undefined || from > last[1]) found.push([from, to]);
    else last[1] = Math.max(last[1], to);
  }
  return found;
}
