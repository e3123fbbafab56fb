import { MASK } from '@/lib/shared/lists/masked';

/** An error this long may have been cut, in the middle of a value it quotes. */
const MAY_BE_CUT_CHARACTERS = 300;
/** Characters (code points, as databases cut by them): a shorter value is part of too many words, and is looked for as a word of its own. */
const SHORTEST_WITHIN = 3;
/** Digits: fewer are part of too many numbers. */
const SHORT_NUMBER = /^\d{1,5}$/;
const WORD = /[\p{L}\p{N}]/u;
const DIGIT = /\d/;

type Stretch = [from: number, to: number];

/** How a hidden value may be written. `short` is said of the value: of how it is written, quotes in it would tell. */
interface Spelling {
  text: string;
  short: boolean;
}

/**
 * The error text with hidden values masked, plain or as JSON and addresses write them, and the beginning of one that it was
 * cut in. What is masked follows from where values stand and from their lengths, never from their characters.
 */
export function presentError(error: string | null, hidden: string[], isCut = false): string | null {
  if (error === null) return null;
  const values = [...new Set(hidden)].filter((value) => value !== '').flatMap(spellings);
  const stretches = [...values.flatMap((value) => quotes(error, value)), ...cutEnd(error, values, isCut)];
  let shown = '';
  let at = 0;
  for (const [from, to] of joined(stretches)) {
    shown += error.slice(at, from) + MASK;
    at = to;
  }
  return shown + error.slice(at);
}

function spellings(value: string): Spelling[] {
  const short = charactersOf(value).length < SHORTEST_WITHIN;
  const texts = new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())]);
  return [...texts].map((text) => ({ text, short }));
}

const charactersOf = (text: string): string[] => [...text];

function quotes(error: string, value: Spelling): Stretch[] {
  const found: Stretch[] = [];
  for (let from = error.indexOf(value.text); from >= 0; from = error.indexOf(value.text, from + 1)) {
    const to = from + value.text.length;
    const beside = [charactersOf(error.slice(Math.max(0, from - 2), from)).at(-1), charactersOf(error.slice(to, to + 2))[0]];
    if (!beside.some((character) => character !== undefined && isPartOf(value, character))) found.push([from, to]);
  }
  return found;
}

function isPartOf({ text, short }: Spelling, beside: string): boolean {
  if (short) return WORD.test(beside);
  return SHORT_NUMBER.test(text) && DIGIT.test(beside);
}

/** Of a text that is cut the last characters may be the first of a value: so few that it cannot be told are never shown. */
function cutEnd(error: string, values: Spelling[], isCut: boolean): Stretch[] {
  const characters = charactersOf(error);
  if (characters.length < MAY_BE_CUT_CHARACTERS || values.length === 0) return [];
  const untold = isCut ? characters.slice(1 - SHORTEST_WITHIN).join('').length : 0;
  const begun = Math.max(untold, ...values.map(({ text }) => beginningAtTheEnd(error, text)));
  return begun === 0 ? [] : [[error.length - begun, error.length]];
}

/** The length at the end of `error` that is the beginning of `value`, and not all of it: of three characters at least, otherwise 0. */
function beginningAtTheEnd(error: string, value: string): number {
  const start = charactersOf(value).slice(0, SHORTEST_WITHIN).join('');
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
