import type { OutboxDirectory } from './directory';

/** Answers how many outboxes are on the server of an outbox, that one included. */
export function countByServer(directory: OutboxDirectory): (outbox: string) => number {
  const serverOf = (outbox: string): string => directory.database(outbox).status().server.key;
  const counts = new Map<string, number>();
  for (const id of directory.ids) counts.set(serverOf(id), (counts.get(serverOf(id)) ?? 0) + 1);
  return (outbox) => counts.get(serverOf(outbox)) ?? 1;
}
