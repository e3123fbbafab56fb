/** A parsed document before its schema is checked. */
import { type Path, formatPath } from '@/lib/shared/lists/document-path';

export type Unread = Record<string, unknown>;
export const isMap = (value: unknown): value is Unread => typeof value === 'object' && value !== null && !Array.isArray(value);
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
/** The ids of a list of maps, as far as they are written. */
export const idsIn = (list: unknown): string[] => listOf(list).flatMap((one) => (isMap(one) && typeof one.id === 'string' ? one.id : []));

/** Whether a problem's line is about a path, or about a part of it. */
export const isAbout = (line: string, at: string): boolean => [':', '.', '['].some((next) => line.startsWith(`${at}${next}`));

const OF_OUTBOX = /^outboxes\[(\d+)\]((?:\.[\w-]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*): /;

/** Problems with the ids of the outboxes they are about: with forty of them nobody counts entries. */
export function withIds(problems: readonly string[], document: unknown): string[] {
  const outboxes = isMap(document) ? listOf(document.outboxes) : [];
  return problems.map((line) => {
    const [start, place, within] = OF_OUTBOX.exec(line) ?? [];
    const outbox = outboxes[Number(place)];
    if (start === undefined || within === '.id' || !isMap(outbox) || typeof outbox.id !== 'string' || outbox.id === '') return line;
    return `${start}outbox ${outbox.id}: ${line.slice(start.length)}`;
  });
}

/** The parts of a document without a line in `problems`; `places` are the indexes of its outboxes in the document. */
export function usablePart(document: unknown, problems: readonly string[]): { document: Unread; places: number[] } {
  const root = isMap(document) ? document : {};
  const isUsable = (path: Path): boolean => !problems.some((line) => isAbout(line, formatPath(path)));
  const databases = Object.entries(isMap(root.databases) ? root.databases : {}).filter(([id]) => isUsable(['databases', id]));
  const names = new Set(databases.map(([id]) => id));
  const outboxes = listOf(root.outboxes).map((outbox, place) => ({ outbox, place }));
  const kept = outboxes.filter(
    ({ outbox, place }) =>
      isUsable(['outboxes', place]) && isMap(outbox) && typeof outbox.database === 'string' && names.has(outbox.database),
  );
  return {
    document: { databases: Object.fromEntries(databases), outboxes: kept.map(({ outbox }) => outbox) },
    places: kept.map(({ place }) => place),
  };
}

const REFERENCE = /(\$?)\$\{([^}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Replaces `${NAME}` in every string; `$${NAME}` becomes `${NAME}`. Unset names are added to `problems`, never values. */
export function interpolate(value: unknown, lookUp: (name: string) => string | undefined, problems: string[], path: Path = []): unknown {
  if (typeof value === 'string') {
    return value.replace(REFERENCE, (whole, escape: string, name: string) => {
      if (escape === '$') return whole.slice(1);
      if (!NAME.test(name)) {
        problems.push(`${formatPath(path)}: "\${${name}}" is no variable name; write $\${…} for the characters themselves`);
        return '';
      }
      const found = lookUp(name);
      if (found === undefined || found === '') {
        problems.push(`${formatPath(path)}: the environment variable ${name} is not set; set it or write the value here`);
        return whole;
      }
      return found;
    });
  }
  if (Array.isArray(value)) return value.map((item, index) => interpolate(item, lookUp, problems, [...path, index]));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolate(item, lookUp, problems, [...path, key])]));
  return value;
}
