import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SHAPES } from '@/lib/shape/catalog.gen';
import type { Shape } from '@/lib/shape/shape';
import { LIVE_STATES } from '@/lib/shared/states';
import { conditionText } from './condition-text';

const document = fs.readFileSync(path.resolve(import.meta.dirname, '../docs/shapes.md'), 'utf8');
const sections = new Map(document.split('\n## ').map((text) => [text.slice(0, text.indexOf('\n')), text] as const));

/** Codes that must be words on the page. */
function codes(shape: Shape): string[] {
  const rules = Object.values(shape.operations).flatMap((operation) =>
    Array.isArray(operation) ? operation.flatMap((rule) => ('refuse' in rule ? [rule.refuse] : rule.warnings)) : [operation.refuse],
  );
  return [...rules, ...(shape.facts?.warnings ?? []), ...(shape.noArchive === undefined ? [] : [shape.noArchive])];
}

describe.each(SHAPES.map((shape) => [shape.key, shape] as const))('docs/shapes.md on %s', (key, shape) => {
  const text = sections.get(key) ?? '';

  it('says which states it can show, and which are not in its table', () => {
    const line = document.split('\n').find((candidate) => candidate.startsWith(`| [\`${key}\`]`)) ?? '';
    const shown = LIVE_STATES.map(
      (state) => shape.states.some((rule) => rule.state === state) || (state === 'dead' && shape.dead !== undefined),
    );
    expect(
      line
        .split('|')
        .slice(4, -1)
        .map((cell) => cell.trim()),
    ).toEqual(shown.map((is) => (is ? 'yes' : 'not in this table')));
    for (const rule of shape.states) expect(text).toContain(conditionText(rule.when));
  });

  it('has a line for every operation, archive included', () => {
    for (const operation of ['retry', 'requeue', 'release', 'archive', ...Object.keys(shape.operations)])
      expect(text).toContain(`\n| ${operation} |`);
  });

  it('says where its facts come from and what is only assumed', () => {
    if (shape.facts !== undefined) expect(text).toContain(`From ${shape.facts.source}:`);
    const names = [...(shape.parameters.maxAttempts === undefined ? [] : ['maxAttempts']), ...Object.keys(shape.parameters.extra ?? {})];
    for (const name of names) expect(text.split('Assumed until set: ')[1]).toContain(`\`${name}\``);
  });

  it('speaks in sentences, not in codes', () => {
    expect(codes(shape).filter((code) => code.includes('_') && new RegExp(`(no: |- )${code.replaceAll('_', ' ')}`).test(text))).toEqual([]);
  });
});

it('has a section for every shape, and for nothing else', () => {
  expect([...sections.keys()].slice(1)).toEqual(SHAPES.map((shape) => shape.key));
});
