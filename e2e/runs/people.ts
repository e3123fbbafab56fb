/** What a process needs to work on the outbox of a seed: the engines under test, and the two people who plan, approve and intervene. */
import type { ApprovalRule } from '@/lib/config/config';
import { createDirectory } from '@/lib/outbox/directory';
import type { PlanDeps } from '@/lib/runs/plans/plan';
import { leftoverIds } from '@/lib/runs/run/job';
import { SHAPES } from '@/lib/shape/catalog.gen';
import type { TableRef } from '@/lib/shape/schema/names';
import { Problem } from '@/lib/shared/problems';
import { noteActed } from '@/lib/store/acted';
import { proveAuditTakesEntries } from '@/lib/store/audit';
import { openStore, type Store } from '@/lib/store/store';

/** Where everything is, as text. */
export interface Address {
  outbox: string;
  shape: string;
  table: TableRef;
  parameters: { maxAttempts?: number; stuckAfterSeconds: number };
  reader: string;
  operator: string;
  store: string;
}

/** More than one person may change within an hour; single interventions stay below it for a while. */
export const ROWS_ALONE = 12;

export function openPeople(at: Address) {
  const shape = SHAPES.find(({ key }) => key === at.shape);
  if (shape === undefined) throw new Error(`no shape ${at.shape}`);
  const store = openStore(at.store);
  const directory = createDirectory({
    databases: [{ id: 'observed', url: at.reader, operatorUrl: at.operator }],
    outboxes: [
      {
        ...{ id: at.outbox, name: at.outbox, database: 'observed', table: at.table, shape, inline: false },
        ...{ parameters: at.parameters, links: [], amount: null, mask: [] },
      },
    ],
  });
  const approvals: ApprovalRule[] = [{ outboxes: null, operations: null, rows: ROWS_ALONE, amount: null, notIdempotent: false }];
  const planDeps: PlanDeps = { store, directory, approvals, leftovers: leftoverIds };
  return { store, directory, planDeps };
}

/** As the console has it: nothing is changed unless the store takes audit entries. */
export const requireStoreOf =
  ({ db }: Store) =>
  async (outbox: string): Promise<void> => {
    try {
      await proveAuditTakesEntries(db);
      await noteActed(db, [{ outbox, at: null }]);
    } catch (cause) {
      throw new Problem('unavailable', 'the store takes no entries: this try changed nothing', { ofStore: true, cause });
    }
  };
