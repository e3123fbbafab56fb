import type { FleetSnapshot, OutboxSnapshot, Series, Summary } from '../shared/model';
import { Problem } from '../shared/problems';
import type { Window } from '../shared/windows';
import type { OutboxDirectory } from '../outbox/directory';

/** The figures of every outbox, one reading for all viewers: single flight, never more than 5 s old when answered. */
export interface Snapshots {
  /** Every outbox over the last hour, worst first; one that is slow or away never delays the others. */
  fleet(): Promise<FleetSnapshot>;
  /** Problem `not_found` for an unknown id; a source that is away keeps its last figures, marked `stale`. */
  outbox(id: string, window: Window): Promise<OutboxSnapshot>;
  /** Problem `not_found` for an unknown id; a source that is away has `source_down` and no figures. */
  summary(id: string, window: Window): Promise<Summary>;
  series(id: string, window: Window): Promise<Series>;
}

export interface SnapshotsOptions {
  /** Milliseconds since the epoch, for tests. */
  now?: () => number;
}

export function createSnapshots(directory: OutboxDirectory, _options: SnapshotsOptions = {}): Snapshots {
  const away = (): Promise<never> => Promise.reject(new Problem('unavailable', `The figures of ${String(directory.ids.length)} outboxes are not read yet`));
  return { fleet: away, outbox: away, summary: away, series: away };
}
