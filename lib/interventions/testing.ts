/** What tests of interventions share: an actor, a key, and dependencies around one bound outbox. */
import { randomUUID } from 'node:crypto';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { Outbox } from '@/lib/outbox/outbox';
import type { KnownProof } from '@/lib/outbox/proven';
import type { Actor } from '@/lib/shared/permissions';
import type { InterventionDeps } from './intervene';
import type { Remembered } from './settle';

export const ANNA: Actor = { id: 'account:anna', name: 'anna@example.com', role: 'operator', kind: 'account' };
export const BEN: Actor = { id: 'account:ben', name: 'ben@example.com', role: 'operator', kind: 'account' };

export const freshKey = (): string => randomUUID();

/** Dependencies around one outbox and what the store knows of its proof; unknown outcomes are kept in memory. */
export function depsFor(
  outbox: Outbox,
  proof: KnownProof = { switched: null, decided: null },
): InterventionDeps & { log: Map<string, Remembered> } {
  const log = new Map<string, Remembered>();
  const directory: OutboxDirectory = {
    ids: [outbox.id],
    databases: [outbox.database],
    settings: () => outbox.settings,
    database: () => outbox.database,
    get: () => Promise.resolve(outbox),
    last: () => Promise.resolve(outbox),
    forget: () => undefined,
    proof: () => Promise.resolve(proof),
    close: () => Promise.resolve(),
  };
  return {
    log,
    directory,
    requireStore: () => Promise.resolve(),
    onRecord: () => undefined,
    unsettled: {
      add: (entry) => Promise.resolve(void log.set(entry.id, { entry, notApplied: false })),
      get: (id) => Promise.resolve(log.get(id) ?? null),
      ofKey: ({ key }) => Promise.resolve([...log.values()].find(({ entry }) => entry.key === key) ?? null),
      list: () => Promise.resolve([...log.values()].filter(({ notApplied }) => !notApplied).map(({ entry }) => entry)),
      settled: (entry, outcome) =>
        Promise.resolve(outcome === 'applied' ? void log.delete(entry.id) : void log.set(entry.id, { entry, notApplied: true })),
    },
  };
}
