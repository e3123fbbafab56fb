import { perObject } from '@/lib/shared/kept';
import { ROLE_TEXTS, type EventText, type OutboxEvent } from '@/lib/shared/model';
import type { MappingProblem } from '@/lib/shape/bind/table';
import { VALUE_ROLES, type Source, type ValueRole } from '@/lib/shape/schema/source';
import { pathSteps } from '@/lib/shared/lists/document-path';
import { hidesPath } from '@/lib/shared/lists/masked-paths';
import type { OutboxSettings } from '../outbox';

type Settings = Pick<OutboxSettings, 'mask' | 'shape' | 'amount'>;

/** Roles that are no field of an event: showing one takes it out of this list. */
const NOT_SHOWN = ['payload', 'headers', 'version'] as const satisfies readonly Exclude<ValueRole, Exclude<keyof OutboxEvent, 'version'>>[];

/** Roles by which events are ordered, counted and given a state: all of these would reveal a hidden value. */
const COUNTED = VALUE_ROLES.filter((role) => !([...ROLE_TEXTS, ...NOT_SHOWN] as readonly ValueRole[]).includes(role));

/** Event fields that roles without `payload:unmask` do not see; depends on the configuration alone. */
export const hiddenFields = perObject((settings: Settings): ReadonlySet<EventText> => {
  const { amount } = settings;
  const inPayload = (path: string | undefined): boolean => path !== undefined && hidesPath(settings.mask, 'payload', pathSteps(path));
  return new Set([
    ...ROLE_TEXTS.filter((role) => isHidden(settings, role)),
    ...(inPayload(amount?.value) ? (['amount'] as const) : []),
    ...(inPayload(amount?.currency) ? (['currency'] as const) : []),
  ]);
});

/** Roles that `mask` cannot hide, because events are ordered, counted and judged by them for every reader. */
export function maskProblems(settings: Settings): MappingProblem[] {
  return COUNTED.filter((role) => isHidden(settings, role)).map((role) => ({
    path: ['mask'],
    message: `covers what ${role} is read from: events are ordered and counted by it, so it cannot be hidden; read it from a column, or leave it out`,
  }));
}

/** Whether any place that a role may be read from is a masked path of the payload or headers. */
function isHidden({ mask, shape }: Settings, role: ValueRole): boolean {
  return (['payload', 'headers'] as const).some((content) =>
    placesOf(shape.columns[content]).some((whole) =>
      placesOf(shape.columns[role]).some((part) => {
        const within = part.column === whole.column && part.path.length > whole.path.length;
        const steps = part.path.slice(whole.path.length);
        return within && whole.path.every((step, index) => step === part.path[index]) && hidesPath(mask, content, steps);
      }),
    ),
  );
}

function placesOf(source: Source | undefined): { column: string; path: string[] }[] {
  if (source === undefined) return [];
  if (typeof source === 'string') return [{ column: source.toLowerCase(), path: [] }];
  if ('anyOf' in source) return source.anyOf.flatMap(placesOf);
  if (!('column' in source) || source.join !== undefined) return [];
  // The last element has no fixed index that a path could name.
  return [{ column: source.column.toLowerCase(), path: [...(source.last === true ? ['-1'] : []), ...(source.path ?? [])] }];
}
