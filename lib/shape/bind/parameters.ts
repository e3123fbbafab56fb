import type { Path } from '@/lib/shared/lists/document-path';
import { suggestion } from '@/lib/shared/text/suggest';
import type { Amount } from '../schema/parameters';
import type { ShapeSettings, Parameters } from '../bound';
import type { Shape } from '../shape';
import type { Problems } from './table';

const DEFAULT_STUCK_AFTER_SECONDS = 300;

/** The parameters of an outbox: what the configuration says, else the shape's default. */
export function mergeParameters(shape: Shape, settings: Pick<ShapeSettings, 'parameters'>): Parameters {
  const given = settings.parameters;
  const extra = Object.entries(shape.parameters.extra ?? {}).map(([name, { default: value }]) => [name, given.extra?.[name] ?? value]);
  return {
    maxAttempts: given.maxAttempts ?? shape.parameters.maxAttempts ?? null,
    stuckAfterSeconds: given.stuckAfterSeconds ?? shape.parameters.stuckAfter ?? DEFAULT_STUCK_AFTER_SECONDS,
    timeZone: given.timeZone ?? shape.parameters.timeZone,
    extra: Object.fromEntries(extra) as Record<string, number | string>,
  };
}

/** Parameters that the configuration leaves to the shape's default, which may not be what this installation runs with. */
export function assumedParameters(shape: Shape, settings: Pick<ShapeSettings, 'parameters'>, zoneMatters: boolean): string[] {
  const given = settings.parameters;
  return [
    ...(shape.parameters.maxAttempts !== undefined && given.maxAttempts === undefined && shape.columns.maxAttempts === undefined
      ? ['maxAttempts']
      : []),
    ...(shape.parameters.stuckAfter !== undefined && given.stuckAfterSeconds === undefined ? ['stuckAfter'] : []),
    ...(zoneMatters && given.timeZone === undefined ? ['timeZone'] : []),
    ...Object.keys(shape.parameters.extra ?? {}).filter((name) => given.extra?.[name] === undefined),
  ];
}

/** Names a shape's conditions and operations may use. */
export function parameterNames(shape: Pick<Shape, 'parameters'>): string[] {
  return ['maxAttempts', 'stuckAfter', ...Object.keys(shape.parameters.extra ?? {})];
}

/** The number behind an amount; notes a parameter that is not there, or holds no number. */
export function numberOf(
  amount: Amount,
  shape: Pick<Shape, 'parameters'>,
  parameters: Parameters,
  path: Path,
  problems: Problems,
): number | null {
  if (typeof amount === 'number') return amount;
  const name = amount.parameter;
  const at = [...path, 'parameter'];
  if (!parameterNames(shape).includes(name)) {
    problems.add(at, `there is no parameter "${name}"${suggestion(name, parameterNames(shape))}`);
    return null;
  }
  const value =
    name === 'maxAttempts' ? parameters.maxAttempts : name === 'stuckAfter' ? parameters.stuckAfterSeconds : parameters.extra[name];
  if (typeof value === 'number') return value;
  problems.add(at, value === null || value === undefined ? `parameter "${name}" has no value: set it` : `parameter "${name}" is no number`);
  return null;
}
