import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ROOMS, importProblem, isTest, mayHoldSql, mayReadEnvironment, packageProblem, roomOf, SQL_TEXT } from './layers.mjs';
import { isProduct, sourceFiles } from './source-files';

const ROOT = path.resolve(import.meta.dirname, '../..');
const MAX_LINES = 400;

function parse(text: string): ts.SourceFile {
  return ts.createSourceFile('source.tsx', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
}

/** Specifiers of every import of a source text: static, re-export, dynamic; of types as of values. */
function importsOf(text: string): string[] {
  const imports: string[] = [];
  const visit = (node: ts.Node): void => {
    const isImport = ts.isImportDeclaration(node) || ts.isExportDeclaration(node);
    const specifier = isImport
      ? node.moduleSpecifier
      : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
        ? node.arguments[0]
        : undefined;
    if (specifier && ts.isStringLiteral(specifier)) imports.push(specifier.text);
    ts.forEachChild(node, visit);
  };
  visit(parse(text));
  return imports;
}

function resolveOurs(from: string, specifier: string): string | null {
  if (specifier.startsWith('@/')) return specifier.slice(2);
  if (specifier.startsWith('.')) return path.posix.normalize(path.posix.join(path.posix.dirname(from), specifier));
  return null;
}

function directionProblems(file: string, text: string): string[] {
  return importsOf(text).flatMap((specifier) => {
    const ours = resolveOurs(file, specifier);
    const problem = ours === null ? packageProblem(file, specifier) : importProblem(file, ours);
    return problem ? [`${file} → ${specifier}: ${problem}`] : [];
  });
}

/** String and template literals only: a comment may say SELECT. */
function sqlProblems(file: string, text: string): string[] {
  if (mayHoldSql(file)) return [];
  const problems: string[] = [];
  const visit = (node: ts.Node): void => {
    const literal = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) ? node.text : null;
    const template = ts.isTemplateExpression(node)
      ? [node.head, ...node.templateSpans.map((s) => s.literal)].map((p) => p.text).join(' x ')
      : null;
    const sql = literal ?? template;
    if (sql !== null && SQL_TEXT.test(sql)) problems.push(`${file}: SQL outside its rooms: ${sql.slice(0, 60)}`);
    ts.forEachChild(node, visit);
  };
  visit(parse(text));
  return problems;
}

function lengthProblems(file: string, text: string): string[] {
  if (file.endsWith('.gen.ts')) return [];
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  return lines > MAX_LINES ? [`${file}: ${String(lines)} lines, ${String(MAX_LINES)} at most`] : [];
}

function isProcessEnv(node: ts.Node): boolean {
  if (!ts.isPropertyAccessExpression(node) && !ts.isElementAccessExpression(node)) return false;
  if (!ts.isIdentifier(node.expression) || node.expression.text !== 'process') return false;
  const name = ts.isElementAccessExpression(node) ? node.argumentExpression : node.name;
  return (ts.isIdentifier(name) || ts.isStringLiteral(name)) && name.text === 'env';
}

function environmentProblems(file: string, text: string): string[] {
  if (mayReadEnvironment(file)) return [];
  const problems: string[] = [];
  const visit = (node: ts.Node): void => {
    if (isProcessEnv(node)) {
      const member = ts.isPropertyAccessExpression(node.parent) ? node.parent.name.text : '';
      // Next replaces this one at build time and cuts the branch that does not run on the edge.
      if (file !== 'instrumentation.ts' || member !== 'NEXT_RUNTIME') problems.push(`${file}: reads process.env; lib/env.ts does that`);
    }
    ts.forEachChild(node, visit);
  };
  visit(parse(text));
  return problems;
}

/** Import cycles. */
function cycles(graph: Map<string, string[]>): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, trail: string[]): void => {
    const at = trail.indexOf(file);
    if (at >= 0) found.push([...trail.slice(at), file].join(' → '));
    if (at >= 0 || done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...trail, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}

/** Which folder of a room imports which one beside it, at every depth: the files flat in a room stand above its folders or below. */
function folderGraph(): Map<string, string[]> {
  const graph = new Map<string, string[]>();
  for (const [from, targets] of importGraph()) {
    for (const to of isProduct(from) ? targets.filter(isProduct) : []) {
      const [own, other] = [from.split('/'), to.split('/')];
      const depth = own.findIndex((part, at) => part !== other[at]);
      if (depth < (own[0] === 'lib' ? 2 : 1) || depth >= own.length - 1 || depth >= other.length - 1) continue;
      const folder = own.slice(0, depth + 1).join('/');
      graph.set(folder, [...new Set([...(graph.get(folder) ?? []), other.slice(0, depth + 1).join('/')])]);
    }
  }
  return graph;
}

/** The files of ours that each file imports, for their types as for their values. */
function importGraph(): Map<string, string[]> {
  return new Map(
    [...texts].map(([file, text]) => [
      file,
      importsOf(text).flatMap((specifier) => {
        const ours = resolveOurs(file, specifier);
        return ours === null ? [] : [ours, `${ours}.ts`, `${ours}.tsx`].filter((candidate) => texts.has(candidate));
      }),
    ]),
  );
}

const files = sourceFiles(ROOT);
const texts = new Map(files.map((file) => [file, fs.readFileSync(path.join(ROOT, file), 'utf8')]));
const everywhere = (check: (file: string, text: string) => string[]): string[] => [...texts].flatMap(([file, text]) => check(file, text));

describe('the picture of docs/ARCHITECTURE.md', () => {
  it('reads the whole tree', () => {
    expect(files).toContain('scripts/lint/layers.test.ts');
    expect(files).toContain('lib/shared/states.ts');
    expect(files).toContain('next.config.js');
  });

  it('holds a room for every file', () => {
    expect(files.filter((file) => roomOf(file) === null)).toEqual([]);
  });

  it('shows every room', () => {
    const [, picture = ''] = fs.readFileSync(path.join(ROOT, 'docs/ARCHITECTURE.md'), 'utf8').split('```');
    const drawn = fs.readFileSync(path.join(ROOT, 'docs/ARCHITECTURE.md'), 'utf8').split('<!-- rooms')[0] ?? '';
    expect(Object.keys(ROOMS).filter((room) => room !== 'root' && !picture.includes(room) && !drawn.includes(`\`${room}`))).toEqual([]);
  });

  it('is kept by every import', () => {
    expect(everywhere(directionProblems)).toEqual([]);
  });

  it('has no import cycle, of types neither', () => {
    expect(cycles(importGraph())).toEqual([]);
  });

  it('has no circle of folders beside each other', () => {
    expect(cycles(folderGraph())).toEqual([]);
  });

  it('has SQL in the listed rooms only', () => {
    expect(everywhere(sqlProblems)).toEqual([]);
  });

  it(`has no file above ${String(MAX_LINES)} lines`, () => {
    expect(everywhere(lengthProblems)).toEqual([]);
  });

  it('reads the environment in one place', () => {
    expect(everywhere(environmentProblems)).toEqual([]);
  });
});

describe('the check itself', () => {
  it.each([
    ['lib/shared/a.ts', `import { x } from '@/lib/shape/shape';`],
    ['lib/outbox/a.ts', `import { x } from '@/lib/interventions/intervene';`],
    ['lib/outbox/a.ts', `import { x } from '../snapshots/snapshots';`],
    ['lib/outbox/a.ts', `export * from '@/lib/server/console';`],
    ['lib/outbox/a.ts', `const x = await import('@/demo/world');`],
    ['lib/outbox/a.ts', `import type { A } from '@/lib/server/console';`],
    ['components/fleet/a.tsx', `import { x } from '@/lib/server/action';`],
    ['components/fleet/a.tsx', `import { cookies } from 'next/headers';`],
    ['components/fleet/a.tsx', `import type { Outbox } from '@/lib/outbox/outbox';`],
    ['app/page.tsx', `import { sql } from '@/lib/database/pool';`],
    ['app/page.tsx', `import pg from 'pg';`],
    ['lib/identity/a.ts', `import { NextRequest } from 'next/server';`],
    ['lib/live/a.ts', `import 'server-only';`],
    ['scripts/a.ts', `import { x } from '@/components/fleet/fleet-table';`],
    ['lib/unheard-of/a.ts', `import { x } from '@/lib/shared/states';`],
  ])('finds the wrong direction in %s: %s', (file, text) => {
    expect(directionProblems(file, text)).toHaveLength(1);
  });

  it.each([
    ['lib/outbox/a.ts', `import type { Config } from '@/lib/config/config';`],
    ['lib/database/a.ts', `import pg from 'pg';`],
    ['components/fleet/a.tsx', `import Link from 'next/link';`],
    ['app/page.tsx', `import { definePage } from '@/lib/server/page';`],
    ['lib/outbox/a.test.ts', `import { startRelay } from '@/demo/relays/escrow';`],
    ['lib/outbox/a.ts', `// import { x } from '@/lib/server/console';`],
  ])('lets pass %s: %s', (file, text) => {
    expect(directionProblems(file, text)).toEqual([]);
  });

  it.each([
    ['app/page.tsx', 'const text = `SELECT id FROM ${table}`;'],
    ['lib/audit/carrier.ts', `const text = 'INSERT INTO audit_entry VALUES ($1)';`],
    ['components/a.tsx', `const text = 'UPDATE outbox SET status = 1';`],
  ])('finds SQL in %s: %s', (file, text) => {
    expect(sqlProblems(file, text)).toHaveLength(1);
  });

  it('does not take English for SQL', () => {
    expect(sqlProblems('app/page.tsx', `const text = 'Select an event from the list'; // SELECT id FROM outbox`)).toEqual([]);
  });

  it('counts lines', () => {
    expect(lengthProblems('lib/a.ts', 'x\n'.repeat(MAX_LINES))).toEqual([]);
    expect(lengthProblems('lib/a.ts', 'x\n'.repeat(MAX_LINES + 1))).toHaveLength(1);
  });

  it('finds stray readings of the environment', () => {
    expect(environmentProblems('lib/server/a.ts', 'const port = process.env.PORT;')).toHaveLength(1);
    expect(environmentProblems('lib/server/a.ts', `const port = process['env'].PORT;`)).toHaveLength(1);
    expect(environmentProblems('instrumentation.ts', 'if (process.env.PORT) {}')).toHaveLength(1);
    expect(environmentProblems('instrumentation.ts', `if (process.env.NEXT_RUNTIME === 'nodejs') {}`)).toEqual([]);
    expect(environmentProblems('lib/server/a.ts', '// process.env is read elsewhere')).toEqual([]);
  });

  it('finds cycles', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['a']],
    ]);
    expect(cycles(graph)).toEqual(['a → b → c → a']);
  });

  it('knows a test from what it tests', () => {
    expect(isTest('lib/outbox/lists/list-events.db.test.ts')).toBe(true);
    expect(isTest('lib/outbox/lists/list-events.ts')).toBe(false);
  });
});
