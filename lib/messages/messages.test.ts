import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import fs from 'node:fs';
import path from 'node:path';
import { createTranslator } from 'next-intl';
import { describe, expect, it } from 'vitest';
import { neededServer } from '@/lib/database/engines';
import { CHECKS } from '@/lib/doctor/examine';
import { OPERATIONS } from '@/lib/interventions/operations';
import { PAYLOAD_WARNINGS } from '@/lib/shape/shape';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { KNOWN, UNAVAILABLE_REASONS } from '@/lib/shared/figures/measured';
import { SKIP_CODES } from '@/lib/shared/model';
import { PROBLEM_STATUS } from '@/lib/shared/problems';
import { APPROVAL_LIMITS } from '@/lib/shared/runs/approvals';
import { LEFT_CODES } from '@/lib/shared/runs/plans';
import { PAUSE_REASONS, RUN_STATES } from '@/lib/shared/runs/runs';
import { STATES } from '@/lib/shared/states';
import { VERDICTS } from '@/lib/shared/figures/verdicts';
import { usedKeys } from '@/scripts/testing/used-keys';
import englishMessages from './en.json';
import { LANGUAGES } from './languages.gen';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** What is done by these is that events are sent again. */
const SENT_AGAIN = ['retry', 'requeue'];
const wordsOf = (operation: string) => [
  ...['name', 'button', 'title', 'consequence', 'sentence', 'plan', 'planned'],
  ...(SENT_AGAIN.includes(operation) ? [] : ['done']),
];

/** An operation works without words, under its key: half of them would be worse. */
const isWorded = (key: string): boolean => [...english.keys()].some((name) => name.startsWith(`operations.${key}.`));

type Catalogue = Map<string, string>;

function flatten(value: unknown, prefix = ''): [string, string][] {
  if (typeof value === 'string') return [[prefix, value]];
  if (typeof value !== 'object' || value === null) throw new Error(`${prefix} is neither a text nor a group of texts`);
  return Object.entries(value).flatMap(([key, inner]) => flatten(inner, prefix === '' ? key : `${prefix}.${key}`));
}

function catalogue(code: string): Catalogue {
  return new Map(flatten(JSON.parse(fs.readFileSync(path.join(import.meta.dirname, `${code}.json`), 'utf8'))));
}

/** Names and kinds of a message's arguments and tags; plural and date are told apart, as their values differ. */
function argumentsOf(message: string): string[] {
  const found = new Set<string>();
  const visit = (elements: MessageFormatElement[]): void => {
    for (const element of elements) {
      if (element.type === TYPE.literal || element.type === TYPE.pound) continue;
      found.add(`${kindOf(element)} ${element.value}`);
      if (element.type === TYPE.tag) visit(element.children);
      if (element.type === TYPE.plural || element.type === TYPE.select)
        Object.values(element.options).forEach((option) => visit(option.value));
    }
  };
  visit(parse(message, { shouldParseSkeletons: false }));
  return [...found].sort();
}

function kindOf(element: MessageFormatElement): string {
  if (element.type === TYPE.tag) return 'tag';
  if (element.type === TYPE.date || element.type === TYPE.time) return 'time';
  if (element.type === TYPE.select) return 'select';
  // Korean has no plural: {count} and {count, plural, …} take the same value.
  return 'value';
}

/** What a language lacks, has too much, or says with other arguments than English. */
function differences(english: Catalogue, other: Catalogue): string[] {
  const problems: string[] = [];
  for (const [key, message] of english) {
    const translated = other.get(key);
    if (translated === undefined) problems.push(`missing: ${key}`);
    else if (translated.trim() === '') problems.push(`empty: ${key}`);
    else if (argumentsOf(message).join() !== argumentsOf(translated).join()) {
      problems.push(`other arguments: ${key} (${argumentsOf(message).join()} / ${argumentsOf(translated).join()})`);
    }
  }
  for (const key of other.keys()) if (!english.has(key)) problems.push(`not in English: ${key}`);
  return problems;
}

function sources(folder: string): string[] {
  if (!fs.existsSync(path.join(ROOT, folder))) return [];
  return fs
    .readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`);
}

function missingKeys(text: string, english: Catalogue): string[] {
  const keys = [...english.keys()];
  return usedKeys(text)
    .filter(({ key }) =>
      typeof key === 'string' ? !english.has(key) && !keys.some((k) => k.startsWith(`${key}.`)) : !keys.some((k) => key.test(k)),
    )
    .map(({ key, line }) => `${String(line)}: ${String(key)}`);
}

const english = catalogue('en');

describe('the catalogues', () => {
  it.each(LANGUAGES.map(({ code }) => code))('%s has every text of English, with the same arguments', (code) => {
    expect(differences(english, catalogue(code))).toEqual([]);
  });

  it.each(LANGUAGES.map(({ code }) => code))('%s styles no number: the build drops the style, and a share of 0.6 is no 60 %', (code) => {
    const styled = [...catalogue(code)].filter(([, message]) => /,\s*number\s*,/.test(message));
    expect(styled).toEqual([]);
  });

  it('have every key that the screens use', () => {
    const problems = ['app', 'components', 'lib/server'].flatMap(sources).flatMap((file) => {
      const text = fs.readFileSync(path.join(ROOT, file), 'utf8');
      return missingKeys(text, english).map((problem) => `${file}:${problem}`);
    });
    expect(problems).toEqual([]);
  });

  it('have words for every code the server may answer', () => {
    const refusals = SHAPES.flatMap((shape) => Object.values(shape.operations)).flatMap((rules) =>
      Array.isArray(rules) ? rules.flatMap((rule) => ('refuse' in rule ? [rule.refuse] : [])) : [rules.refuse],
    );
    refusals.push(...SHAPES.flatMap((shape) => shape.noArchive ?? []));
    const warnings = SHAPES.flatMap((shape) => [
      ...Object.values(shape.operations).flatMap((rules) =>
        Array.isArray(rules) ? rules.flatMap((rule) => ('refuse' in rule ? [] : rule.warnings)) : [],
      ),
      ...(shape.archive?.warnings ?? []),
      ...Object.values(shape.cautions).flat(),
      ...(shape.facts?.warnings ?? []),
    ]);
    // Of these a mapping in the configuration may name any.
    warnings.push(...PAYLOAD_WARNINGS);
    const wanted = [
      ...STATES.map((state) => `states.${state}`),
      ...KNOWN.map((known) => `known.${known}`),
      ...UNAVAILABLE_REASONS.map((code) => `unavailable.${code}`),
      ...SKIP_CODES.map((code) => `skips.${code}`),
      ...Object.keys(PROBLEM_STATUS).map((code) => `problems.${code}`),
      ...APPROVAL_LIMITS.map((limit) => `plans.because.${limit}`),
      ...LEFT_CODES.map((code) => `runs.left.${code}`),
      ...RUN_STATES.map((state) => `runs.states.${state}`),
      ...PAUSE_REASONS.flatMap((why) => [`runs.because.${why}`, `runs.advice.${why}`]),
      ...VERDICTS.flatMap((verdict) => [`verdicts.${verdict}.name`, `verdicts.${verdict}.sentence`]),
      ...Object.keys(CHECKS).flatMap((id) => [`doctor.checks.${id}.what`, `doctor.checks.${id}.why`]),
      ...OPERATIONS.filter(({ key }) => isWorded(key)).flatMap(({ key }) => wordsOf(key).map((word) => `operations.${key}.${word}`)),
      ...refusals.map((code) => `refusals.${code}`),
      ...warnings.map((code) => `warnings.${code}`),
    ];
    expect([...new Set(wanted)].filter((key) => !english.has(key))).toEqual([]);
  });
});

describe('the check itself', () => {
  it('finds what a language lacks', () => {
    const from = new Map([
      ['a', 'One'],
      ['b', '{count, plural, one {# event} other {# events}}'],
      ['c', 'At {when}'],
      ['d', 'Open <link>it</link>'],
    ]);
    const to = new Map([
      ['a', ' '],
      ['b', '이벤트 {count}개'],
      ['c', '{at}에'],
      ['e', '하나'],
    ]);
    expect(differences(from, to)).toEqual(['empty: a', 'other arguments: c (value when / value at)', 'missing: d', 'not in English: e']);
  });

  it.each([
    [`const t = useTranslations('fleet'); t('nothing');`],
    [`const t = await getTranslations('fleet'); t.rich('nothing', {});`],
    [`const t = await getTranslations({ locale, namespace: 'fleet' }); t('nothing');`],
    [`const t = useTranslations('fleet'); t(wide ? 'title' : 'nothing');`],
    ['const t = useTranslations(); t(`nowhere.${code}`);'],
    [`function A() { const t = useTranslations('fleet'); } function B() { const t = useTranslations('audit'); return t('title'); }`],
  ])('finds the key nobody wrote in %s', (text) => {
    expect(missingKeys(text, new Map([['fleet.title', 'Fleet']]))).toHaveLength(1);
  });

  it.each([
    [`const t = useTranslations('fleet'); t('title');`],
    [`const t = useTranslations(); t('fleet.title');`],
    ['const t = useTranslations(); t(`fleet.${part}`);'],
    [`const t = useTranslations('fleet'); t(wide ? 'title' : 'title'); other('nothing');`],
  ])('lets pass %s', (text) => {
    expect(missingKeys(text, new Map([['fleet.title', 'Fleet']]))).toEqual([]);
  });
});

it('a Korean noun stands with the particle that fits how it ends', () => {
  const nouns = ['색인', '테이블', '슬롯', '트랜잭션', '콘솔', '페이지', '이벤트', '릴레이', '데이터베이스', '열', '행', '역할'];
  const endsInConsonant = (noun: string): boolean => ((noun.at(-1)?.charCodeAt(0) ?? 0) - 0xac00) % 28 > 0;
  const misplaced = nouns.map((noun) => `${noun}[${endsInConsonant(noun) ? '가는를와' : '이은을과'}]`);
  const wrong = new RegExp(`(?<![가-힣])(${misplaced.join('|')})(?![가-힣])`);
  expect([...catalogue('ko')].filter(([, text]) => wrong.test(text)).map(([key]) => key)).toEqual([]);
});

it('the databases that are away are counted, however many of them are named', () => {
  const say = (count: number, more: number): string =>
    createTranslator({ locale: 'en', messages: englishMessages, namespace: 'fleet.databases' })('away', { count, more, names: 'a, b, c' });
  expect([say(1, 0), say(3, 0), say(5, 2)]).toEqual(['a, b, c is away', '3 are away: a, b, c', '5 are away: a, b, c and 2 more']);
});

it.each(LANGUAGES)('$code names the servers that are new enough', ({ code }) => {
  for (const key of ['detect.failures.outdated', 'evidence.server_outdated'])
    for (const server of ['PostgreSQL 1', 'MySQL 1', 'MariaDB 1']) expect(catalogue(code).get(key)).toContain(neededServer(server));
});
