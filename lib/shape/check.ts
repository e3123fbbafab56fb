/** What can be said against a shape before its table has been seen: names it uses and nowhere explains, and writes it may not make. */
import type { Path } from '@/lib/shared/lists/document-path';
import { suggestion } from '@/lib/shared/text/suggest';
import type { Shape } from './shape';
import { contradiction, isWithin } from './reason';
import type { Condition } from './schema/condition';
import { groupsOf } from './schema/names';
import { RULE_OPERATIONS } from './schema/operation';
import { idColumns } from './schema/source';

interface ShapeProblem {
  path: Path;
  message: string;
}

/** The codes that have a sentence in every language. */
export interface Words {
  refusals: readonly string[];
  warnings: readonly string[];
}

/** Everything wrong with a shape by itself, each by its path within it; [] when nothing is. `words` where its codes are to be known ones. */
export function shapeProblems(shape: Shape, words?: Words): ShapeProblem[] {
  const captured = groupsOf(shape.match?.pattern ?? '');
  const known: Record<string, { what: string; names: string[] }> = {
    parameter: { what: 'parameter', names: ['maxAttempts', 'stuckAfter', ...Object.keys(shape.parameters.extra ?? {})] },
    companion: { what: 'companion', names: Object.keys(shape.companions) },
    join: { what: 'companion', names: Object.keys(shape.companions) },
    captured: { what: 'named group in match.pattern', names: captured },
  };
  const problems: ShapeProblem[] = [];
  const visit = (value: unknown, path: Path): void => {
    if (Array.isArray(value)) value.forEach((item, index) => visit(item, [...path, index]));
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) {
        const rule = known[key];
        if (rule !== undefined && typeof item === 'string' && !rule.names.includes(item))
          problems.push({ path: [...path, key], message: `there is no ${rule.what} "${item}"${suggestion(item, rule.names)}` });
        else visit(item, [...path, key]);
      }
  };
  for (const part of ['columns', 'rows', 'states', 'dead', 'cursor', 'operations', 'asDead'] as const) visit(shape[part], [part]);
  return [
    ...problems,
    ...unreachableRules(shape),
    ...emptyRules(shape),
    ...oneTimeTwice(shape),
    ...oneColumnTwice(shape),
    ...operationNames(shape),
    ...changesRefused(shape),
    ...writesRefused(shape),
    ...statesNowhere(shape),
    ...(words === undefined ? [] : codesWithoutSentence(shape, words)),
  ];
}

/** Rules that give no row its state, because one above them takes every row they could. */
function unreachableRules(shape: Shape): ShapeProblem[] {
  const seen = new Map<string, number>();
  return shape.states.flatMap(({ when }, index) => {
    const test = JSON.stringify(when);
    const wider = shape.states.slice(0, index).findIndex((rule) => isWithin(when, rule.when));
    const above = seen.get(test) ?? seen.get(ALWAYS) ?? (wider < 0 ? undefined : wider);
    if (above === undefined) {
      seen.set(test, index);
      return [];
    }
    const why = above === seen.get(test) ? 'asks the same' : above === seen.get(ALWAYS) ? 'takes every row' : 'takes all of its rows';
    return [{ path: ['states', index], message: `is never reached: states[${above}] ${why}; put it first, or leave it out` }];
  });
}

/** Rules no row can pass. */
function emptyRules(shape: Shape): ShapeProblem[] {
  return shape.states.flatMap(({ when }, index) => {
    const column = contradiction(when);
    if (column === null) return [];
    return [{ path: ['states', index, 'when'], message: `no row can be both: of "${column}" it asks two things that exclude each other` }];
  });
}

/** Latency is the one less the other: of a single column it would always be nothing. */
function oneTimeTwice({ columns: { createdAt, publishedAt } }: Shape): ShapeProblem[] {
  if (createdAt === undefined || JSON.stringify(createdAt) !== JSON.stringify(publishedAt)) return [];
  const message = 'is the same as createdAt; name what is written when the event is sent, or leave it out';
  return [{ path: ['columns', 'publishedAt'], message }];
}

function oneColumnTwice({ columns: { id } }: Shape): ShapeProblem[] {
  const names = id === undefined ? [] : idColumns(id);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? [] : [{ path: ['columns', 'id'], message: `names "${twice}" twice` }];
}

const ALWAYS = JSON.stringify({ kind: 'always', always: true } satisfies Condition);

function operationNames(shape: Shape): ShapeProblem[] {
  return Object.keys(shape.operations)
    .filter((key) => !(RULE_OPERATIONS as readonly string[]).includes(key))
    .map((key) => ({ path: ['operations', key], message: `there is no operation "${key}"${suggestion(key, RULE_OPERATIONS)}` }));
}

/** What is out stays out, and what a relay may be working on is let alone until something shows that the relay has gone. */
function changesRefused({ operations, archive }: Shape): ShapeProblem[] {
  const problems: ShapeProblem[] = [];
  const refuse = (path: Path, from: readonly string[], why: Record<string, string>): void =>
    from.forEach((state, index) => {
      const message = why[state];
      if (message !== undefined) problems.push({ path: [...path, 'from', index], message });
    });
  const published = 'a published event is out: no operation touches it again';
  for (const [key, rules] of Object.entries(operations)) {
    if (!Array.isArray(rules)) continue;
    rules.forEach((rule, index) => {
      if (!('version' in rule)) return;
      const path = ['operations', key, index];
      const held = 'a relay may be working on it: bring it back with a rule under release';
      refuse(path, rule.from, key === 'release' ? { published } : { published, processing: held });
      if (key === 'release' && rule.olderThanStuckAfter === undefined && rule.guard === undefined)
        problems.push({
          path,
          message: 'takes events from a relay that is at work: say what shows that it has gone, with olderThanStuckAfter or a guard',
        });
      if (Object.keys(rule.set).length === 0 && rule.moveTo === undefined && rule.call === undefined)
        problems.push({ path, message: 'changes nothing: write set, moveTo or call' });
    });
  }
  refuse(['archive'], archive?.from ?? [], { published, processing: 'a relay may depend on its row being there: release it first' });
  return problems;
}

/** The id and what is sent never change, nor a counter the library keeps to itself. */
function writesRefused(shape: Shape): ShapeProblem[] {
  const never = new Map<string, string>();
  for (const name of idColumns(shape.columns.id ?? [])) never.set(name, 'it names the row');
  const payload = shape.columns.payload;
  if (typeof payload === 'string') never.set(payload, 'it is what is sent');
  if (shape.lock !== undefined && 'never' in shape.lock) never.set(shape.lock.never, 'lock says it is left alone');
  const problems: ShapeProblem[] = [];
  const check = (set: Record<string, unknown>, path: Path): void => {
    for (const name of Object.keys(set)) {
      const why = never.get(name);
      if (why !== undefined) problems.push({ path: [...path, name], message: `"${name}" is never written: ${why}` });
    }
  };
  for (const [key, rules] of Object.entries(shape.operations)) {
    if (!Array.isArray(rules)) continue;
    rules.forEach((rule, index) => {
      if ('version' in rule) check(rule.set, ['operations', key, index, 'set']);
    });
  }
  check(shape.asDead?.set ?? {}, ['asDead', 'set']);
  return problems;
}

/** Operations from a state that no row is ever in. */
function statesNowhere({ states, dead, operations, archive }: Shape): ShapeProblem[] {
  const given = new Set<string>([...states.map(({ state }) => state), ...(dead === undefined ? [] : ['dead'])]);
  const missing = (path: Path, from: readonly string[]): ShapeProblem[] =>
    from.flatMap((state, index) =>
      given.has(state)
        ? []
        : [{ path: [...path, 'from', index], message: `no rule under states gives ${state}: write one, or leave it out` }],
    );
  const rules = Object.entries(operations).flatMap(([key, list]) =>
    Array.isArray(list) ? list.flatMap((rule, index) => ('version' in rule ? missing(['operations', key, index], rule.from) : [])) : [],
  );
  return [...rules, ...missing(['archive'], archive?.from ?? [])];
}

/** Codes that would be shown as they are, because they have no sentence. */
function codesWithoutSentence(shape: Shape, { refusals, warnings }: Words): ShapeProblem[] {
  const problems: ShapeProblem[] = [];
  const hold = (code: string, known: readonly string[], what: string, path: Path): void => {
    if (known.includes(code)) return;
    problems.push({ path, message: `there is no ${what} "${code}"${suggestion(code, known)}` });
  };
  const visit = (value: unknown, path: Path): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      const at = [...path, Array.isArray(value) ? Number(key) : key];
      if (key === 'refuse' && typeof item === 'string') hold(item, refusals, 'refusal', at);
      else if (key === 'warnings' && Array.isArray(item))
        item.forEach((code, index) => hold(String(code), warnings, 'warning', [...at, index]));
      else visit(item, at);
    }
  };
  visit(shape.operations, ['operations']);
  visit(shape.archive, ['archive']);
  if (shape.noArchive !== undefined) hold(shape.noArchive, refusals, 'refusal', ['noArchive']);
  for (const [state, codes] of Object.entries(shape.cautions))
    codes.forEach((code, index) => hold(code, warnings, 'warning', ['cautions', state, index]));
  return problems;
}
