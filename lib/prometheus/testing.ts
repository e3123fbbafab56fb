/** A strict reader of the Prometheus text format 0.0.4, for tests: throws at the first thing that a scraper could stumble over. */
import type { SlotHealth } from '@/lib/shared/figures/slot-health';

export interface Parsed {
  families: Map<string, { type: string; help: string }>;
  series: { name: string; family: string; labels: Record<string, string>; value: number }[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const VALUE = /^(?:[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?|\+Inf|-Inf|NaN)$/i;

/** Reads the text. Throws Error with the number of the line that breaks a rule. */
export function parseExposition(text: string): Parsed {
  const parsed: Parsed = { families: new Map(), series: [] };
  const helps = new Map<string, string>();
  const seen = new Set<string>();
  let current = '';
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  for (const [index, line] of text.slice(0, -1).split('\n').entries()) {
    const fail = (why: string): never => {
      throw new Error(`line ${String(index + 1)}: ${why}: ${line.slice(0, 200)}`);
    };
    if (line === '') continue;
    if (line.startsWith('#')) {
      const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? fail('a comment of no kind');
      if (!NAME.test(name)) fail('not a name');
      if (keyword === 'HELP') {
        if (helps.has(name)) fail('a second HELP');
        if (/\\(?![\\n])/.test(rest)) fail('an unknown escape');
        helps.set(
          name,
          rest.replace(/\\([\\n])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : '\\')),
        );
      } else {
        if (parsed.families.has(name)) fail('a second TYPE, or one after its samples');
        if (!['counter', 'gauge', 'histogram', 'summary', 'untyped'].includes(rest)) fail('an unknown type');
        if (!helps.has(name)) fail('a TYPE without HELP');
        parsed.families.set(name, { type: rest, help: helps.get(name) ?? '' });
        current = name;
      }
      continue;
    }
    const { name, labels, rest } = readSeries(line, fail);
    const value = /^ (\S+)$/.exec(rest)?.[1] ?? fail('not one value after one space');
    if (!VALUE.test(value)) fail('not a number');
    const type = parsed.families.get(current)?.type ?? fail('a sample before its TYPE');
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    if (!suffixes.some((suffix) => name === current + suffix)) fail(`a sample among those of ${current}`);
    const number = /inf/i.test(value) ? (value.startsWith('-') ? -Infinity : Infinity) : Number(value);
    if (type === 'counter' && !(current.endsWith('_total') && number >= 0)) fail('a counter without _total, or below zero');
    const identity = `${name}${JSON.stringify(Object.entries(labels).sort())}`;
    if (seen.has(identity)) fail('the same series twice');
    seen.add(identity);
    parsed.series.push({ name, family: current, labels, value: number });
  }
  checkHistograms(parsed);
  return parsed;
}

function readSeries(line: string, fail: (why: string) => never): { name: string; labels: Record<string, string>; rest: string } {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0] ?? fail('not a name');
  const labels: Record<string, string> = {};
  let at = name.length;
  if (line[at] !== '{') return { name, labels, rest: line.slice(at) };
  at += 1;
  while (line[at] !== '}') {
    const [whole, label = '', raw = ''] =
      /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"(?:,(?!})|(?=}))/.exec(line.slice(at)) ?? fail('not a label');
    if (label in labels) fail('the same label twice');
    labels[label] = raw.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
    if (labels[label] === '') fail('an empty label, which is none');
    at += whole.length;
  }
  return { name, labels, rest: line.slice(at + 1) };
}

function checkHistograms({ families, series }: Parsed): void {
  for (const [name, { type }] of families) {
    if (type !== 'histogram') continue;
    const groups = new Map<string, { les: number[]; counts: number[]; sum?: number; count?: number }>();
    for (const one of series.filter(({ family }) => family === name)) {
      const { le, ...others } = one.labels;
      const key = JSON.stringify(others);
      const group = groups.get(key) ?? { les: [], counts: [] };
      groups.set(key, group);
      if (one.name === `${name}_sum`) group.sum = one.value;
      else if (one.name === `${name}_count`) group.count = one.value;
      else {
        group.les.push(le === '+Inf' ? Infinity : Number(le));
        group.counts.push(one.value);
      }
    }
    for (const [key, { les, counts, sum, count }] of groups) {
      const rising = (values: number[]): boolean => values.every((value, at) => at === 0 || value >= (values[at - 1] ?? 0));
      const complete = sum !== undefined && count !== undefined && les.at(-1) === Infinity && counts.at(-1) === count;
      if (!complete || !rising(les) || new Set(les).size !== les.length || !rising(counts))
        throw new Error(`${name}${key} is no histogram`);
    }
  }
}

/** The value of a series with exactly these labels; undefined when there is none. */
export function valueOf({ series }: Parsed, name: string, labels: Record<string, string>): number | undefined {
  const wanted = JSON.stringify(Object.entries(labels).sort());
  return series.find((one) => one.name === name && JSON.stringify(Object.entries(one.labels).sort()) === wanted)?.value;
}

/** A slot whose connector has been away for a minute and a half, at ten o'clock. */
export const SLOT: SlotHealth = {
  known: 'exact',
  name: 'debezium',
  assumed: true,
  state: 'inactive',
  inactiveSince: '2026-11-21T09:58:30.000Z',
  lagBytes: 1_000,
  heldBytes: 2_000,
  safeBytes: 3_000,
  walStatus: 'extended',
};
