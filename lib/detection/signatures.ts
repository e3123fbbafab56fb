import type { CandidateCompanion } from '@/lib/shared/detection';
import { tableParts, type TableRef } from '@/lib/shape/schema/names';
import type { Shape } from '@/lib/shape/shape';
import type { ShapeSignature } from './signature';

/** What a shape is recognised by; null for one that does not say. */
export function signatureOf(shape: Shape): ShapeSignature | null {
  const { detect, match } = shape;
  if (detect === undefined) return null;
  const usual = tableParts(shape.table);
  return {
    key: shape.key,
    label: shape.label,
    family: shape.family,
    engines: shape.engines,
    schema: match?.schema ?? usual.schema,
    names: [...(/[{*]/.test(usual.table) ? [] : [usual.table]), ...(match?.names ?? [])],
    pattern: match?.pattern ?? null,
    mustHave: detect.mustHave,
    mustNotHave: detect.mustNotHave,
    signature: detect.signature,
    types: detect.types,
    companions: companionsOf(shape),
    underscoreless: detect.underscoreless ?? false,
    assumed: assumedOf(shape),
  };
}

function companionsOf(shape: Shape): ShapeSignature['companions'] {
  const known = new Map<string, CandidateCompanion['purpose']>();
  const put = (ref: TableRef, purpose: CandidateCompanion['purpose']): void => void known.set(tableParts(ref).table, purpose);
  for (const name of shape.detect?.companions ?? []) put({ table: name }, 'other');
  for (const { table, purpose } of Object.values(shape.companions))
    put(table, purpose === 'dead' || purpose === 'archive' ? purpose : 'other');
  if (shape.dead !== undefined) put(shape.dead.table, 'dead');
  return [...known].map(([name, purpose]) => ({ name, purpose }));
}

/** Parameters whose values are the relay's: nothing in the database says them. */
function assumedOf({ parameters }: Shape): ShapeSignature['assumed'] {
  const { maxAttempts, extra } = parameters;
  const own = Object.entries(extra ?? {}).map(([name, { default: value }]) => ({ name, value }));
  return maxAttempts === undefined ? own : [{ name: 'maxAttempts', value: maxAttempts }, ...own];
}
