/**
 * Which catalogue keys a source text uses, for lib/messages/messages.test.ts: calls of what `useTranslations`,
 * `getTranslations` and `createTranslator` answered, with a literal or a template as the key.
 */
import ts from 'typescript';

export interface UsedKey {
  /** Full key, or a pattern when part of it is computed. */
  key: string | RegExp;
  line: number;
}

const MAKERS = new Set(['useTranslations', 'getTranslations']);
const METHODS = new Set(['rich', 'markup', 'raw', 'has']);

export function usedKeys(text: string): UsedKey[] {
  const source = ts.createSourceFile('source.tsx', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: UsedKey[] = [];
  // A name means the nearest declaration around its use, so namespaces are kept per scope.
  const visit = (node: ts.Node, scope: Map<string, string>): void => {
    const inner = ts.isFunctionLike(node) || ts.isBlock(node) ? new Map(scope) : scope;
    if (ts.isVariableDeclaration(node)) declare(node, inner);
    if (ts.isCallExpression(node)) {
      const namespace = inner.get(calledName(node) ?? '');
      const [argument] = node.arguments;
      if (namespace !== undefined && argument) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart());
        for (const key of keysOf(argument)) found.push({ key: join(namespace, key), line: line + 1 });
      }
    }
    ts.forEachChild(node, (child) => {
      visit(child, inner);
    });
  };
  visit(source, new Map());
  return found;
}

function declare(node: ts.VariableDeclaration, scope: Map<string, string>): void {
  if (!ts.isIdentifier(node.name) || !node.initializer) return;
  const value = ts.isAwaitExpression(node.initializer) ? node.initializer.expression : node.initializer;
  if (!ts.isCallExpression(value) || !ts.isIdentifier(value.expression) || !MAKERS.has(value.expression.text)) return;
  const [argument] = value.arguments;
  if (!argument) scope.set(node.name.text, '');
  else if (ts.isStringLiteral(argument)) scope.set(node.name.text, argument.text);
  else if (ts.isObjectLiteralExpression(argument)) scope.set(node.name.text, namespaceOf(argument));
}

function namespaceOf(options: ts.ObjectLiteralExpression): string {
  for (const property of options.properties) {
    if (!ts.isPropertyAssignment(property) || !ts.isStringLiteral(property.initializer)) continue;
    if (ts.isIdentifier(property.name) && property.name.text === 'namespace') return property.initializer.text;
  }
  return '';
}

function calledName(call: ts.CallExpression): string | null {
  const target = call.expression;
  if (ts.isIdentifier(target)) return target.text;
  if (ts.isPropertyAccessExpression(target) && ts.isIdentifier(target.expression) && METHODS.has(target.name.text)) {
    return target.expression.text;
  }
  return null;
}

/** What a key argument may be: literals, both sides of a choice, a template as a pattern. Anything else is unknown. */
function keysOf(argument: ts.Expression): (string | RegExp)[] {
  if (ts.isStringLiteral(argument) || ts.isNoSubstitutionTemplateLiteral(argument)) return [argument.text];
  if (ts.isConditionalExpression(argument)) return [...keysOf(argument.whenTrue), ...keysOf(argument.whenFalse)];
  if (ts.isParenthesizedExpression(argument) || ts.isAsExpression(argument) || ts.isSatisfiesExpression(argument)) {
    return keysOf(argument.expression);
  }
  if (ts.isTemplateExpression(argument)) {
    const parts = [argument.head.text, ...argument.templateSpans.map((span) => span.literal.text)];
    return [new RegExp(`^${parts.map(escape).join('[^.]+')}$`)];
  }
  return [];
}

function join(namespace: string, key: string | RegExp): string | RegExp {
  if (namespace === '') return key;
  if (typeof key === 'string') return `${namespace}.${key}`;
  return new RegExp(`^${escape(namespace)}\\.${key.source.slice(1)}`);
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
