/** Checks of a shape without its table: names it uses but does not define, and forbidden writes. */
import type { Path } from '@/lib/shared/lists/document-path';
import { suggestion } from '@/lib/shared/text/suggest';
import type { ChangeRule, Shape } from './shape';
import { contradiction, isWithin } from './reason';
import type { Condition } from './schema/condition';
import { groupsOf } from './schema/names';
import { RULE_OPERATIONS } from '@/lib/shared/changes/fates';
import { idColumns } from './schema/source';

interface ShapeProblem {
  path: Path;
  message: string;
}

/** Codes with a text in every language. */
export type Words = Record<'refusals' | 'warnings', readonly string[]>;

/** All problems of a shape, with their paths; [] if there are none. With `words`, its codes must be known ones. */
export function shapeProblems(shape: Shape, words?: Words): ShapeProblem[] {
  const known: Record<string, { what: string; names: string[] }> = {
    parameter: { what: 'parameter', names: ['maxAttempts', 'stuckAfter', ...Object.keys(shape.parameters.extra ?? {})] },
    companion: { what: 'companion', names: Object.keys(shape.companions) },
    join: { what: 'companion', names: Object.keys(shape.companions) },
    captured: { what: 'named group', names: groupsOf(shape.match?.pattern ?? '') },
  };
  const under: Record<string, string> = { parameter: 'parameters.extra', captured: 'match.pattern' };
  const parts = ['columns', 'rows', 'states', 'dead', 'cursor', 'operations', 'archive', 'asDead'] as const;
  const unknown = parts
    .flatMap((part) => entriesIn(shape[part], [part]))
    .flatMap(({ key, value, path }) => {
      const rule = known[key];
      if (rule === undefined || typeof value !== 'string' || rule.names.includes(value)) return [];
      const cure = suggestion(value, rule.names).replace(/[^?]$|^$/, `$&; write it under ${under[key] ?? 'companions'}`);
      return [{ path, message: `there is no ${rule.what} "${value}"${cure}` }];
    });
  const ofRules = [unreachableRules, emptyRules, oneTimeTwice, oneColumnTwice, operationNames];
  const ofChanges = [changesRefused, writesRefused, statesNowhere];
  const problems = [...ofRules, ...ofChanges].flatMap((check) => check(shape));
  return [...unknown, ...problems, ...(words === undefined ? [] : codesWithoutSentence(shape, words))];
}

/** All entries of a part of a shape, at every depth. */
function entriesIn(part: unknown, at: Path): { key: string; value: unknown; path: Path }[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) => {
    const path = [...at, Array.isArray(part) ? Number(key) : key];
    return [{ key, value: value as unknown, path }, ...entriesIn(value, path)];
  });
}

function changeRules({ operations }: Pick<Shape, 'operations'>): { key: string; rule: ChangeRule; path: Path }[] {
  return Object.entries(operations).flatMap(([key, rules]) => {
    const all = Array.isArray(rules) ? rules : [];
    return all.flatMap((rule, index) => ('version' in rule ? [{ key, rule, path: ['operations', key, index] }] : []));
  });
}

/** State rules that are never reached, because one above matches every row they could. */
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

function emptyRules(shape: Shape): ShapeProblem[] {
  return shape.states.flatMap(({ when }, index) => {
    const column = contradiction(when);
    if (column === null) return [];
    const message = `no row can be both: of "${column}" it asks two things that exclude each other; leave one out, or put them under any`;
    return [{ path: ['states', index, 'when'], message }];
  });
}

/** Latency is their difference: with the same column it would always be zero. */
function oneTimeTwice({ columns: { createdAt, publishedAt } }: Shape): ShapeProblem[] {
  if (createdAt === undefined || JSON.stringify(createdAt) !== JSON.stringify(publishedAt)) return [];
  const message = 'is the same as createdAt; name what is written when the event is sent, or leave it out';
  return [{ path: ['columns', 'publishedAt'], message }];
}

function oneColumnTwice({ columns: { id } }: Shape): ShapeProblem[] {
  const names = id === undefined ? [] : idColumns(id);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? [] : [{ path: ['columns', 'id'], message: `names "${twice}" twice: leave one out` }];
}

const ALWAYS = JSON.stringify({ kind: 'always', always: true } satisfies Condition);

function operationNames(shape: Shape): ShapeProblem[] {
  return Object.keys(shape.operations)
    .filter((key) => !(RULE_OPERATIONS as readonly string[]).includes(key))
    .map((key) => ({ path: ['operations', key], message: `there is no operation "${key}"${suggestion(key, RULE_OPERATIONS)}` }));
}

/** Published events are never changed, and rows a relay may be working on only with evidence that the relay has gone. */
function changesRefused({ operations, archive }: Shape): ShapeProblem[] {
  const problems: ShapeProblem[] = [];
  const refuse = (path: Path, from: readonly string[], why: Record<string, string>): void =>
    from.forEach((state, index) => {
      const message = why[state];
      if (message !== undefined) problems.push({ path: [...path, 'from', index], message });
    });
  const published = 'a published event is out: no operation touches it again; leave published out of from';
  const held = 'a relay may be working on it: bring it back with a rule under release';
  for (const { key, rule, path } of changeRules({ operations })) {
    refuse(path, rule.from, key === 'release' ? { published } : { published, processing: held });
    const unsure = 'takes events from a relay that is at work: say what shows that it has gone, with olderThanStuckAfter or a guard';
    if (key === 'release' && rule.olderThanStuckAfter === undefined && rule.guard === undefined) problems.push({ path, message: unsure });
    if (Object.keys(rule.set).length === 0 && rule.moveTo === undefined && rule.call === undefined)
      problems.push({ path, message: 'changes nothing: write set, moveTo or call' });
  }
  refuse(['archive'], archive?.from ?? [], { published, processing: 'a relay may depend on its row being there: release it first' });
  return problems;
}

/** The id and the payload are never written, nor a counter that belongs to the library. */
function writesRefused(shape: Shape): ShapeProblem[] {
  const never = new Map<string, string>();
  for (const name of idColumns(shape.columns.id ?? [])) never.set(name, 'it names the row');
  const payload = shape.columns.payload;
  if (typeof payload === 'string') never.set(payload, 'it is what is sent');
  if (shape.lock !== undefined && 'never' in shape.lock) never.set(shape.lock.never, 'lock says it is left alone');
  const written = (set: Record<string, unknown>, path: Path): ShapeProblem[] =>
    Object.keys(set).flatMap((name) => {
      const why = never.get(name);
      return why === undefined ? [] : [{ path: [...path, 'set', name], message: `"${name}" is never written, as ${why}: leave it out` }];
    });
  return [...changeRules(shape).flatMap(({ rule, path }) => written(rule.set, path)), ...written(shape.asDead?.set ?? {}, ['asDead'])];
}

function statesNowhere({ states, dead, operations, archive }: Shape): ShapeProblem[] {
  const given = new Set<string>([...states.map(({ state }) => state), ...(dead === undefined ? [] : ['dead'])]);
  const missing = (path: Path, from: readonly string[]): ShapeProblem[] =>
    from.flatMap((state, index) => {
      const message = `no rule under states gives ${state}: write one, or leave it out`;
      return given.has(state) ? [] : [{ path: [...path, 'from', index], message }];
    });
  const ofDead = archive?.guard !== undefined && archive.from.every((state) => state === 'dead');
  const unasked = ofDead && dead !== undefined && !states.some(({ state }) => state === 'dead');
  return [
    ...changeRules({ operations }).flatMap(({ rule, path }) => missing(path, rule.from)),
    ...missing(['archive'], archive?.from ?? []),
    ...(unasked ? [{ path: ['archive', 'guard'], message: 'is never asked: rows of the dead-letter table need none; leave it out' }] : []),
  ];
}

/** Codes without a text, which would be shown as they are. */
function codesWithoutSentence(shape: Shape, { refusals, warnings }: Words): ShapeProblem[] {
  const unknown = (code: string, known: readonly string[], what: string, path: Path): ShapeProblem[] =>
    known.includes(code) ? [] : [{ path, message: `there is no ${what} "${code}"${suggestion(code, known)}` }];
  const ofWarnings = (codes: readonly string[], path: Path): ShapeProblem[] =>
    codes.flatMap((code, index) => unknown(code, warnings, 'warning', [...path, index]));
  const written = [...entriesIn(shape.operations, ['operations']), ...entriesIn(shape.archive, ['archive'])];
  return [
    ...written.flatMap(({ key, value, path }) => {
      if (key === 'refuse' && typeof value === 'string') return unknown(value, refusals, 'refusal', path);
      return key === 'warnings' && Array.isArray(value) ? ofWarnings(value.map(String), path) : [];
    }),
    ...(shape.noArchive === undefined ? [] : unknown(shape.noArchive, refusals, 'refusal', ['noArchive'])),
    ...Object.entries(shape.cautions).flatMap(([state, codes]) => ofWarnings(codes, ['cautions', state])),
  ];
}
