/** Turns zod's issues into lines a person can act on: one per problem, starting with its path. */
import { z } from 'zod';
import { formatPath, type Path } from '@/lib/shared/lists/document-path';
import { suggestion } from '@/lib/shared/text/suggest';
import { isMap } from './document';

type Issue = z.core.$ZodIssue;

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) value = isMap(value) || Array.isArray(value) ? Reflect.get(value, part) : undefined;
  return value;
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

const EXPECTED: Record<string, string> = {
  object: 'a map',
  record: 'a map',
  array: 'a list',
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

/** The union's attempt that fits best: probably what the writer meant. */
function nearestAttempt(attempts: Issue[][]): Issue[] {
  const rank = (issues: Issue[]): number => {
    const misfit = issues.some(isOfAnotherType) ? 1_000 : 0;
    const depth = Math.max(0, ...issues.map((issue) => issue.path.length));
    return misfit + issues.length - depth * 0.1;
  };
  return [...attempts].sort((a, b) => rank(a) - rank(b))[0] ?? [];
}

const wordOf = (expected: string): string => EXPECTED[expected] ?? expected;

const isOfAnotherType = (issue: Issue): boolean => issue.path.length === 0 && issue.code === 'invalid_type';

function linesOf(issue: Issue, base: Path, context: { root: unknown; schema: z.ZodType }): string[] {
  const path = [...base, ...issue.path];
  const where = formatPath(path);
  const wanted = (words: string): string[] => {
    const value = valueAt(context.root, path);
    return [value === undefined ? `${where}: missing; write ${words}` : `${where}: write ${words}, not ${describe(value)}`];
  };
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => `${formatPath([...path, key])}: unknown key${suggestion(key, knownKeys(context.schema, path))}`);
    case 'invalid_union': {
      const attempts = issue.errors.filter((attempt) => attempt.length > 0);
      if (attempts.length === 0) return [`${where}: ${issue.message}`];
      if (!attempts.every((attempt) => attempt.some(isOfAnotherType)))
        return nearestAttempt(attempts).flatMap((inner) => linesOf(inner, path, context));
      const expected = attempts
        .flat()
        .flatMap((inner) => (inner.code === 'invalid_type' && inner.path.length === 0 ? [wordOf(inner.expected)] : []));
      return wanted([...new Set(expected)].join(' or '));
    }
    case 'invalid_type':
      return wanted(wordOf(issue.expected));
    case 'invalid_value':
      return [`${where}: write one of ${issue.values.map(String).join(', ')}`];
    case 'too_small':
      return [`${where}: ${/^Too small/.test(issue.message) ? `write at least ${String(issue.minimum)}` : issue.message}`];
    case 'too_big':
      return [`${where}: ${/^Too big/.test(issue.message) ? `write at most ${String(issue.maximum)}` : issue.message}`];
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues.map((inner) => `${where}: ${inner.message}`);
    default:
      return [`${where}: ${issue.message}`];
  }
}

/** One line per problem of a failed parse. `schema` provides the known keys for suggestions. */
export function problemLines(error: z.ZodError, schema: z.ZodType, root: unknown): string[] {
  return [...new Set(error.issues.flatMap((issue) => linesOf(issue, [], { root, schema })))];
}

/** Known keys of the object at a path of a schema; of a union, those of all its objects. */
function knownKeys(schema: z.core.$ZodType, path: Path): string[] {
  const [head, ...rest] = path;
  if (schema instanceof z.ZodObject) {
    if (head === undefined) return Object.keys(schema.shape);
    const inner: unknown = Reflect.get(schema.shape, head);
    return inner instanceof z.ZodType ? knownKeys(inner, rest) : [];
  }
  if (schema instanceof z.ZodArray) return head === undefined ? [] : knownKeys(schema.element, rest);
  if (schema instanceof z.ZodRecord) {
    if (head !== undefined) return knownKeys(schema.def.valueType, rest);
    return schema.def.keyType instanceof z.ZodEnum ? schema.def.keyType.options.map(String) : [];
  }
  if (schema instanceof z.ZodUnion) return [...new Set(schema.options.flatMap((option: z.core.$ZodType) => knownKeys(option, path)))];
  if (schema instanceof z.ZodLazy) return knownKeys(schema.unwrap(), path);
  if (schema instanceof z.ZodPipe) return [...knownKeys(schema.in, path), ...knownKeys(schema.out, path)];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return knownKeys(schema.unwrap(), path);
  return [];
}
