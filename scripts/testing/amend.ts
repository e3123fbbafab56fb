import type { ColumnDescription } from '@/lib/database/description';
import { plainColumn, type Place } from '@/lib/shape/bound';
import type { EngineKey } from '@/lib/shared/model';
import { ENGINES } from './outbox';

/**
 * An assignment that gives a row of the place another content, number `number` of its kind: another payload, or where there is none
 * another time of creation. No relay does that, and an operator who saw the row before has seen another event. Null where rows have neither.
 */
export function amendment(engine: EngineKey, place: Place, number: number): string | null {
  const payload = place.roles.payload;
  const content = payload === undefined || payload.join !== null ? null : contentOf(engine, payload.column, number);
  if (payload !== undefined && content !== null) return `${ENGINES[engine].quote.identifier(payload.column.name)} = ${content}`;
  const created = plainColumn(place, 'createdAt');
  const later = created === null ? null : laterThan(engine, created);
  return created === null || later === null ? null : `${ENGINES[engine].quote.identifier(created.name)} = ${later}`;
}

function contentOf(engine: EngineKey, { kind, type }: ColumnDescription, number: number): string | null {
  const text = JSON.stringify({ amended: number });
  if (kind === 'binary') {
    const hex = Buffer.from(text).toString('hex');
    return engine === 'postgres' ? `decode('${hex}', 'hex')` : `x'${hex}'`;
  }
  if (kind !== 'json' && kind !== 'text') return null;
  return engine === 'postgres' ? `'${text}'::${type}` : `'${text}'`;
}

function laterThan(engine: EngineKey, { name, kind }: ColumnDescription): string | null {
  const column = ENGINES[engine].quote.identifier(name);
  if (kind === 'integer') return `${column} + 3600`;
  if (kind !== 'instant' && kind !== 'wall_clock') return null;
  return engine === 'postgres' ? `${column} + interval '1 hour'` : `${column} + interval 1 hour`;
}
