import type { Path } from '@/lib/shared/lists/document-path';
import type { Amount } from '../schema/parameters';
import { parameterNamed, type ShapeSettings, type Parameters } from '../bound';
import type { Shape } from '../shape';
import type { Problems } from './table';

const DEFAULT_STUCK_AFTER_SECONDS = 300;

/** The parameters of an outbox: the configuration's, otherwise the shape's defaults. */
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

/** The number of an amount; reports a parameter without one and returns null. */
export function amountIn(amount: Amount, { parameters, problems }: { parameters: Parameters; problems: Problems }, path: Path) {
  const value = typeof amount === 'number' ? amount : parameterNamed(parameters, amount.parameter);
  if (typeof amount === 'number' || typeof value === 'number') return Number(value);
  const why = value === null ? 'has no value: set it' : 'is no number: set one';
  problems.add([...path, 'parameter'], `parameter "${amount.parameter}" ${why}`);
  return null;
}
