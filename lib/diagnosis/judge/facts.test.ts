/** Every fact gives what its sentence asks for: its values, as the source writes them, are the placeholders of `evidence.<code>`. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, TYPE, type MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import ts from 'typescript';
import { expect, it } from 'vitest';
import english from '@/lib/messages/en.json';

const ROOT = path.resolve(import.meta.dirname, '..');
const FILES = ['verdicts', 'evidence'].flatMap((room) =>
  readdirSync(path.join(ROOT, room))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => path.join(ROOT, room, name)),
);

/** Given besides the placeholders: the start of an `ageMs`, so that it grows on the screen, and what only scripts read. */
const BESIDES: Record<string, readonly string[]> = {
  blocking_row: ['atLeast', 'headAt', 'others'],
  endless_rows: ['firstAt'],
  due_again: ['dueAt'],
  events_due: ['oldestAt'],
  events_overdue: ['dueAt'],
  fresh_behind: ['oldestAt'],
  key_first: ['firstAt'],
  oldest_claim: ['claimedAt'],
  operator_acted: ['actedAt'],
  oldest_waits: ['oldestAt'],
  source_unusable: ['sinceAt'],
  type_never_out: ['firstAt'],
  usual_latency: ['count'],
};

interface Given {
  code: string;
  values: string[];
}

/** The facts that a file gives, one for each place and code. */
function factsIn(file: string): Given[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const named = new Map<string, ts.Expression>();
  const facts: ts.CallExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer) named.set(node.name.text, node.initializer);
    if (ts.isCallExpression(node) && ['fact', 'factIfKnown'].includes(node.expression.getText())) facts.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);

  const written = (node: ts.Expression | undefined): ts.Expression | undefined =>
    node !== undefined && ts.isIdentifier(node) ? named.get(node.text) : node;
  const codesIn = (node: ts.Expression | undefined): string[] => {
    const found = written(node);
    if (found === undefined) return [];
    if (ts.isStringLiteral(found)) return [found.text];
    if (ts.isConditionalExpression(found)) return [...codesIn(found.whenTrue), ...codesIn(found.whenFalse)];
    if (ts.isElementAccessExpression(found)) return codesIn(found.expression);
    if (!ts.isObjectLiteralExpression(found)) return [];
    return found.properties.flatMap((property) => (ts.isPropertyAssignment(property) ? codesIn(property.initializer) : []));
  };
  const namesIn = (node: ts.Expression): string[] => {
    const found = written(node);
    if (found === undefined || !ts.isObjectLiteralExpression(found)) throw new Error(`${file}: ${node.getText()} has no names to read`);
    return found.properties.map((property) => {
      if (property.name === undefined) throw new Error(`${file}: ${property.getText()} has no name`);
      return property.name.getText();
    });
  };
  return (
    facts
      // `factIfKnown` hands on what it was given.
      .filter(({ arguments: [, values] }) => values === undefined || !ts.isAsExpression(values))
      .flatMap(({ arguments: [code, values] }) => {
        const codes = [...new Set(codesIn(code))];
        if (codes.length === 0) throw new Error(`${file}: no code in ${code?.getText() ?? 'nothing'}`);
        return codes.map((one) => ({ code: one, values: values === undefined ? [] : namesIn(values) }));
      })
  );
}

/** Without those of its branches left out: a sentence asks for all of them. */
function placeholders(message: string): string[] {
  const visit = (elements: MessageFormatElement[]): string[] =>
    elements.flatMap((element) => {
      if (element.type === TYPE.literal || element.type === TYPE.pound) return [];
      const inner = element.type === TYPE.plural || element.type === TYPE.select ? Object.values(element.options) : [];
      return [element.value, ...inner.flatMap(({ value }) => visit(value))];
    });
  return visit(parse(message));
}

const SENTENCES: Record<string, string> = english.evidence;
const FACTS = FILES.flatMap((file) => factsIn(file).map((fact) => ({ ...fact, file: path.relative(ROOT, file) })));

it.each(FACTS)('$code of $file gives what its sentence says', ({ code, values }) => {
  const wanted = [...placeholders(SENTENCES[code] ?? ''), ...(BESIDES[code] ?? [])];
  expect(SENTENCES).toHaveProperty(code);
  expect([...values].sort()).toEqual([...new Set(wanted)].sort());
});

it('every sentence is some fact’s', () => {
  expect(new Set(FACTS.map(({ code }) => code))).toEqual(new Set(Object.keys(SENTENCES)));
});
