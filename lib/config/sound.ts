/** What of a configuration can still be looked at when other parts of it are wrong, so that all problems come in one answer. */
import { formatPath, type Path } from '@/lib/shared/lists/document-path';

type Unread = Record<string, unknown>;
const isMap = (value: unknown): value is Unread => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The databases and outboxes of a document that no line of `problems` is about; `places` are the numbers these outboxes
 * have in the document. An outbox whose database is left out is left out too.
 */
export function soundPart(document: unknown, problems: readonly string[]): { document: Unread; places: number[] } {
  const root = isMap(document) ? document : {};
  const isSound = (path: Path): boolean => {
    const at = formatPath(path);
    return !problems.some((line) => [':', '.', '['].some((next) => line.startsWith(`${at}${next}`)));
  };
  const databases = Object.entries(isMap(root.databases) ? root.databases : {}).filter(([id]) => isSound(['databases', id]));
  const names = new Set(databases.map(([id]) => id));
  const outboxes = (Array.isArray(root.outboxes) ? (root.outboxes as unknown[]) : []).map((outbox, place) => ({ outbox, place }));
  const kept = outboxes.filter(
    ({ outbox, place }) =>
      isSound(['outboxes', place]) && isMap(outbox) && typeof outbox.database === 'string' && names.has(outbox.database),
  );
  return {
    document: { databases: Object.fromEntries(databases), outboxes: kept.map(({ outbox }) => outbox) },
    places: kept.map(({ place }) => place),
  };
}
