/**
 * What two tables are honestly told apart by, though their rows are alike: their names, the clock, and what a server estimates or has been
 * asked. Each is put aside by its name and its place; all else of two answers is compared to the letter.
 */
import { setTimeout } from 'node:timers/promises';

/** Of figures in JSON: when something was done, how long it took, and how old something is by then. */
const CLOCK = new Set(['tookMs', 'ageMs', 'oldestAgeMs', 'oldestMs', 'foldedTo', 'watchedSince', 'everyMs', 'cost', 'statisticsSince']);
/** What the server has counted of itself, or guessed, and what is left to be read; some of it null until it has, or once there is none. */
const COUNTED = new Set(['backfill', 'rows', 'entries', 'scans', 'writesPerSecond', 'growthBytesPerDay', 'hotShare']);
/** How well a figure is known by then. */
const KNOWN = new Set(['exact', 'estimated', 'sampled']);
/** Made of the table's name, or of the request. */
const NAMED = new Set(['fingerprint', 'reference']);
/** Metrics that are a time, an age, or what the console itself has done by then. */
const CLOCK_METRIC = /^outbox_console_(?:collector_|reading_|oldest_pending_age_seconds)/;
const RUNNING = new Set(['backfilling', 'collecting', 'slowed']);

/** Times of rows and of the audit are in the first minute of 2026; any other one is of the run. */
const RUN_TIME = /\b(?!2026-01-01T00:00|2026-01-01 00:00)\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC)/g;

/** An answer about the outbox called `id` as it is compared; `begun` is when the console began to watch, in milliseconds since the epoch. */
export function comparable(text: string, id: string, begun: number): string {
  const [, status = '', body = ''] = /^(\d{3} )?([\s\S]*)$/.exec(text) ?? [];
  const same = /^[[{]/.test(body) ? JSON.stringify(JSON.parse(body, (key, value: unknown) => told(key, value, begun))) : lines(body, begun);
  return (status + same)
    .replaceAll(id, 'pair')
    .replaceAll(id.replaceAll('-', '_'), 'pair')
    .replace(/0190000[01]-0000/g, 'audit')
    .replace(RUN_TIME, 'now');
}

/** A figure or a list by the name that an answer gives it. */
function told(key: string, value: unknown, begun: number): unknown {
  if (COUNTED.has(key)) return 'told';
  if (value === null) return value;
  if (CLOCK.has(key) || NAMED.has(key) || (typeof value === 'string' && KNOWN.has(value))) return 'told';
  if (key === 'state' && RUNNING.has(String(value))) return 'running';
  // One per minute that was watched, of rows that stay what they are.
  if (key === 'sparkline' && Array.isArray(value)) return [...new Set(value.filter((depth) => depth !== null))];
  // MySQL shows no sizes of indexes to a reader: they are estimated from the entries.
  if (key === 'indexes' && Array.isArray(value)) return (value as object[]).map((index) => ({ ...index, bytes: 'told' }));
  // By type, a count per step: null for one that has not been read by then, and none of these rows is as young as a window.
  if (key === 'published' && Array.isArray(value)) return value.filter((count) => Number(count) > 0);
  if (key === 'points' && Array.isArray(value)) return pastOf(value as Point[], begun);
  return value;
}

type Point = Record<string, unknown> & { at: string };

/**
 * The steps of a series in which something happened, of those before the watch began: which one the window begins with, and how far back has
 * been read by then, is the clock's to say. Of all of them the depths that are told: the rows stay what they are.
 */
function pastOf(points: Point[], begun: number): unknown {
  const step = Date.parse(points[1]?.at ?? '') - Date.parse(points[0]?.at ?? '');
  const happened = points.filter(({ at, waiting, dead, ...point }) => Date.parse(at) + step < begun && Object.values(point).some(holds));
  const told = (depth: 'waiting' | 'dead'): unknown[] => [...new Set(points.map((point) => point[depth]).filter((of) => of !== null))];
  return {
    steps: points.length,
    past: happened.map(({ at, provisional, ...point }) => ({ before: Date.parse(at) - begun, ...point })),
    waiting: told('waiting'),
    dead: told('dead'),
  };
}

const holds = (value: unknown): boolean => (Array.isArray(value) ? value.some(holds) : Number(value) > 0 && value !== true);

const SERIES_HEADER = 'from (UTC)';

/** The same of texts: metrics without the values of the clock's, findings without ages, a series as its steps. */
function lines(body: string, begun: number): string {
  const all = body.split(/\r?\n/);
  const header = (all[0] ?? '').split(',');
  if (header[0] !== SERIES_HEADER)
    return all.map((line) => (CLOCK_METRIC.test(line) ? line.replace(/ \S+$/, '') : line.replace(/(oldestMs\W+)[\d.]+/g, '$1'))).join('\n');
  const points = all.slice(1, -1).map((line): Point => {
    const {
      [SERIES_HEADER]: at = '',
      'waiting (events)': waiting = '',
      'dead (events)': dead = '',
      ...of
    } = Object.fromEntries(line.split(',').map((value, index) => [header[index] ?? '', value]));
    const hidden = { 'to (UTC)': '', watched: '', complete: '' };
    return { ...of, ...hidden, at, waiting: waiting === '' ? null : waiting, dead: dead === '' ? null : dead };
  });
  return `${header.join()} ${JSON.stringify(pastOf(points, begun))}`;
}

/**
 * Whether an answer says of itself that there will be more to it: a database that did not answer in time, content that waits its turn.
 * It is asked again; any other answer counts as it is.
 */
function isToCome(text: string): boolean {
  return /^(503|504) /.test(text) || /"unread":"not_now"|"problem":"(timeout|unavailable)"/.test(text);
}

/**
 * How far the watch has come by an answer's own words: between two that say differently nothing is compared yet. Which types go out, how often
 * something does, and since when is known once the past is read.
 */
const PROGRESS =
  /"why":"[a-z_]+"|"\w+":"unavailable"|"state":"waiting"|^outbox_console_[a-z]+_total\b|"code":"(?:type_never_out|rhythm_unknown)"|"throughput":\{[^{}]*"since"|verdict="no_handler"\} 1/gm;
const progressOf = (text: string): string => (text.match(PROGRESS) ?? []).join();

export interface Door {
  name: string;
  /** What it answers, and its further pages. */
  ask: () => Promise<string[]>;
}

/** The two answers of a door, asked at one time; again only where one of them says itself that it is not all there yet. */
export async function answersOf([left, right]: [Door, Door]): Promise<[string[], string[]]> {
  for (const until = Date.now() + 60_000; ;) {
    const [a, b] = await Promise.all([left.ask(), right.ask()]);
    const settledAlike = ![...a, ...b].some(isToCome) && progressOf(a.join('\n')) === progressOf(b.join('\n'));
    if (settledAlike || Date.now() > until) return [a, b];
    await setTimeout(500);
  }
}

/** The two answers where they part. */
export function apart(a: string, b: string): string {
  const at = a.split('').findIndex((letter, index) => letter !== b.charAt(index));
  return [a, b].map((text) => text.slice(Math.max(0, at - 120), at + 120)).join('\n');
}

interface OfAll {
  outboxes?: { id: string }[];
  entries?: { outbox: { id: string } }[];
  doctor?: Record<string, unknown>;
}

/** What an answer about all outboxes says of one. */
export function ofOutbox(text: string, id: string): string {
  if (text.startsWith('{')) {
    const { outboxes = [], entries = [], doctor = {} } = JSON.parse(text) as OfAll;
    return JSON.stringify([outboxes.filter((outbox) => outbox.id === id), entries.filter(({ outbox }) => outbox.id === id), doctor[id]]);
  }
  return text
    .split('\n')
    .filter((line) => line.includes(`outbox="${id}"`))
    .join('\n');
}
