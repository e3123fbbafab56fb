/**
 * The entry points that the source declares: pages, layouts, routes and server actions, each with who may use it. An
 * entry that is not made by a wrapper of lib/server, or declares nothing, is a problem.
 */
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { PERMISSIONS } from '@/lib/shared/permissions';

export interface EntryPoint {
  file: string;
  kind: 'page' | 'layout' | 'route' | 'action';
  /** Exported name. */
  name: string;
  id: string;
  /** A permission of lib/shared/permissions.ts, `public`, or `embedded`: who has the token of a card. */
  access: string;
}

export interface EntryPoints {
  entries: EntryPoint[];
  problems: string[];
}

const MAKERS: Record<EntryPoint['kind'], readonly string[]> = {
  page: ['definePage', 'definePublicPage'],
  layout: ['defineLayout'],
  route: ['defineRoute', 'defineEmbeddedRoute'],
  action: ['defineAction', 'defineSnapshot'],
};
/** Takes its id as the first argument, and the permission of all that it makes is in lib/server/action.ts. */
const SNAPSHOT = { maker: 'defineSnapshot', permission: 'outbox:read' };
/** What it makes is open to tokens of cards, and nothing else is: both are declared. */
const EMBEDDED = 'defineEmbeddedRoute';
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** What surrounds every page, the sign-in included, and every card: they show nothing of their own. */
const ROOT_LAYOUTS = new Set(['app/(site)/layout.tsx', 'app/(cards)/layout.tsx']);
/** Next-auth's own handler, declared public in lib/server/auth/auth-handler.ts. */
const AUTH_ROUTE = 'app/api/auth/[...nextauth]/route.ts';
/** Exports that are settings of Next and answer no request. */
const SETTINGS = new Set(['metadata', 'viewport', 'generateMetadata', 'dynamic', 'runtime', 'maxDuration', 'revalidate', 'fetchCache']);

/** All entry points below `root`/app, and server actions wherever they are. */
export function readEntryPoints(root: string): EntryPoints {
  const found: EntryPoints = { entries: [], problems: [] };
  for (const folder of ['app', 'components', 'lib']) {
    for (const file of sourceFiles(root, folder)) {
      const { entries, problems } = entryPointsOf(file, fs.readFileSync(path.join(root, file), 'utf8'));
      found.entries.push(...entries);
      found.problems.push(...problems);
    }
  }
  const ids = new Map<string, string>();
  for (const { id, file, name } of found.entries) {
    const other = ids.get(id);
    // One route may answer several methods under one id.
    if (other !== undefined && other !== file) found.problems.push(`${file}: ${name} has the id ${id} of ${other}`);
    ids.set(id, file);
  }
  return found;
}

export function entryPointsOf(file: string, text: string): EntryPoints {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: EntryPoints = { entries: [], problems: [] };
  const kind = kindOf(file, source);
  if (file === AUTH_ROUTE && /from '@\/lib\/server\/auth\/auth-handler'/.test(text)) {
    found.entries.push({ file, kind: 'route', name: 'GET', id: 'auth', access: 'public' });
  } else if (kind) {
    const values = constants(source);
    for (const [name, expression] of exportsOf(source)) {
      if (SETTINGS.has(name) || (kind === 'route' && !METHODS.has(name)) || (isPageKind(kind) && name !== 'default')) continue;
      readEntry(found, { file, kind, name, expression: expression && resolve(expression, values) });
    }
  }
  if (kind !== 'action' && hasInlineAction(source))
    found.problems.push(`${file}: 'use server' inside a function; put the action into an actions.ts, made by defineAction`);
  return found;
}

function isPageKind(kind: EntryPoint['kind']): boolean {
  return kind === 'page' || kind === 'layout';
}

function kindOf(file: string, source: ts.SourceFile): EntryPoint['kind'] | null {
  if (ROOT_LAYOUTS.has(file)) return null;
  const [first] = source.statements;
  if (first && ts.isExpressionStatement(first) && ts.isStringLiteral(first.expression) && first.expression.text === 'use server')
    return 'action';
  if (!file.startsWith('app/')) return null;
  const match = /\/(page|layout|route|template|default)\.tsx?$/.exec(`/${file}`)?.[1];
  if (match === 'page' || match === 'layout' || match === 'route') return match;
  return match ? 'layout' : null;
}

function readEntry(
  found: EntryPoints,
  at: { file: string; kind: EntryPoint['kind']; name: string; expression: ts.Expression | null },
): void {
  const { file, kind, name, expression } = at;
  const makers = MAKERS[kind];
  if (
    !expression ||
    !ts.isCallExpression(expression) ||
    !ts.isIdentifier(expression.expression) ||
    !makers.includes(expression.expression.text)
  ) {
    found.problems.push(`${file}: ${name} is not made by ${makers.join(' or ')}`);
    return;
  }
  const isSnapshot = expression.expression.text === SNAPSHOT.maker;
  const [first] = expression.arguments;
  const id = isSnapshot ? (first !== undefined && ts.isStringLiteral(first) ? first.text : null) : property(expression, 'id');
  const permission = isSnapshot ? SNAPSHOT.permission : property(expression, 'permission');
  const isEmbedded = expression.expression.text === EMBEDDED;
  const isPublic = property(expression, 'public') === 'true';
  const declaresCards = property(expression, 'embedded') === 'true';
  const access = isPublic ? 'public' : declaresCards ? 'embedded' : permission;
  if (isEmbedded !== declaresCards || (isEmbedded && (isPublic || permission !== null))) {
    found.problems.push(`${file}: ${name} is embedded by ${EMBEDDED} and by embedded: true alone, without public or permission`);
    return;
  }
  if (access !== 'public' && access !== 'embedded' && !(PERMISSIONS as readonly (string | null)[]).includes(access)) {
    found.problems.push(`${file}: ${name} declares no permission that lib/shared/permissions.ts knows`);
    return;
  }
  found.entries.push({ file, kind, name, id: id ?? `${file}#${name}`, access: access ?? 'public' });
}

function property(call: ts.CallExpression, name: string): string | null {
  const [argument] = call.arguments;
  if (!argument || !ts.isObjectLiteralExpression(argument)) return null;
  for (const member of argument.properties) {
    if (!ts.isPropertyAssignment(member) || !ts.isIdentifier(member.name) || member.name.text !== name) continue;
    return ts.isStringLiteral(member.initializer) ? member.initializer.text : member.initializer.getText();
  }
  return null;
}

/** Exported names with the expression behind them; null for functions and re-exports, which no wrapper made. */
function exportsOf(source: ts.SourceFile): [string, ts.Expression | null][] {
  const found: [string, ts.Expression | null][] = [];
  for (const statement of source.statements) {
    if (ts.isExportAssignment(statement)) found.push(['default', statement.expression]);
    if (ts.isExportDeclaration(statement) && !statement.isTypeOnly) {
      if (!statement.exportClause || !ts.isNamedExports(statement.exportClause)) found.push(['*', null]);
      else
        for (const element of statement.exportClause.elements)
          found.push([element.name.text, statement.moduleSpecifier ? null : (element.propertyName ?? element.name)]);
    }
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!modifiers.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword)) continue;
    const isDefault = modifiers.some((modifier) => modifier.kind === ts.SyntaxKind.DefaultKeyword);
    if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
      found.push([isDefault ? 'default' : (statement.name?.text ?? 'default'), null]);
    if (ts.isVariableStatement(statement)) {
      for (const { name, initializer } of statement.declarationList.declarations) {
        if (ts.isIdentifier(name)) found.push([name.text, initializer ?? null]);
        else for (const element of name.elements) if (ts.isBindingElement(element)) found.push([element.name.getText(), null]);
      }
    }
  }
  return found;
}

function constants(source: ts.SourceFile): Map<string, ts.Expression> {
  const found = new Map<string, ts.Expression>();
  for (const statement of source.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (ts.isIdentifier(name) && initializer) found.set(name.text, initializer);
    }
  }
  return found;
}

/** `export default page` and `export const POST = GET` mean what the name was made as. */
function resolve(expression: ts.Expression, values: Map<string, ts.Expression>): ts.Expression {
  const next = ts.isIdentifier(expression) ? values.get(expression.text) : undefined;
  return next ? resolve(next, values) : expression;
}

function hasInlineAction(source: ts.SourceFile): boolean {
  let found = false;
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node)) {
      const [first] = node.statements;
      if (first && ts.isExpressionStatement(first) && ts.isStringLiteral(first.expression) && first.expression.text === 'use server')
        found = true;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function sourceFiles(root: string, folder: string): string[] {
  if (!fs.existsSync(path.join(root, folder))) return [];
  return fs
    .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .map((name) => `${folder}/${name.split(path.sep).join('/')}`)
    .sort();
}
