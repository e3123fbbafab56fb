/** A plan as it was frozen: its row, its events, and the hash over all of it. */
import { createHash } from 'node:crypto';
import { digestOf } from '@/lib/database/digest';
import type { ApprovalRule } from '@/lib/config/config';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { Actor } from '@/lib/shared/permissions';
import type { VersionedEvent } from '@/lib/shared/model';
import { PLAN_CHUNK, type LeftCode, type Plan, type PlanSource } from '@/lib/shared/runs/plans';
import { readChunk, type PlanRow } from '@/lib/store/plans';
import type { Store, StoreDb } from '@/lib/store/store';
import type { Spend } from '../approvals/limits';
import { chunkBytes, unpackChunk, type PlannedEvent } from './chunk';

export interface PlanDeps {
  store: Store;
  directory: OutboxDirectory;
  /** Rules of the configuration. */
  approvals: readonly ApprovalRule[];
  /** Ids of the events that a run left for these reasons. */
  leftovers: (db: StoreDb, runId: string, codes: readonly LeftCode[]) => Promise<string[]>;
  /** The most that the relay published of late; null if that is not known. */
  publishedPerMinute?: (outbox: string) => Promise<number | null>;
}

/** What a plan tells of its events; JSON in its row. */
export interface PlanFacts extends Pick<
  Plan,
  'sums' | 'withoutAmount' | 'types' | 'oldestAt' | 'searched' | 'warnings' | 'orderNotLooked' | 'sql' | 'expectedSeconds'
> {
  /** What limits count of it, and the digest of the rules it was counted for. */
  spend: Spend;
  policy: string;
  /** The first event of each place: `sql` is what would run for them. */
  samples: Pick<VersionedEvent, 'id' | 'version'>[];
}

export const factsOf = ({ facts }: Pick<PlanRow, 'facts'>): PlanFacts => JSON.parse(facts) as PlanFacts;
export const sourceOf = ({ source }: Pick<PlanRow, 'source'>): PlanSource => JSON.parse(source) as PlanSource;
/** Its maker, in whose name it runs. */
export const makerOf = ({ actor }: Pick<PlanRow, 'actor'>): Actor => JSON.parse(actor) as Actor;

/** Its events in order, by chunk. Throws if a chunk is missing. */
export async function* plannedEvents(db: StoreDb, plan: Pick<PlanRow, 'id' | 'count'>): AsyncGenerator<PlannedEvent[]> {
  for (let n = 0; n * PLAN_CHUNK < plan.count; n += 1) {
    const data = await readChunk(db, plan.id, n);
    if (data === null) throw new Error(`plan ${plan.id} has no chunk ${String(n)}`);
    yield unpackChunk(data);
  }
}

/** What is hashed besides the events. */
export type PlanHead = Pick<PlanRow, 'outbox' | 'operation' | 'reason' | 'count'> & { facts: PlanFacts };

/** SHA-256, hex, of all that will run and of what a person decides by: the head, and `events`, the digest of the chunks' plain bytes in order. */
export function planHash({ outbox, operation, reason, count, facts }: PlanHead, events: string): string {
  const { sums, withoutAmount, warnings, spend, sql } = facts;
  const sorted = (record: object): unknown => Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1));
  const { sums: spent, ...counted } = spend;
  const told = [sorted(sums), withoutAmount, sorted(warnings), sorted(counted), sorted(spent)];
  return digestOf([outbox, operation, reason, count, sql, told, events]);
}

/** Digests chunks in order. */
export function digestOfEvents() {
  const digest = createHash('sha256');
  return {
    add: (events: readonly PlannedEvent[]): void => void digest.update(chunkBytes(events)),
    hex: (): string => digest.digest('hex'),
  };
}

/** Whether the store holds what the hash is of. */
export async function verifyPlan(db: StoreDb, plan: PlanRow): Promise<boolean> {
  const digest = digestOfEvents();
  let count = 0;
  for await (const events of plannedEvents(db, plan)) {
    digest.add(events);
    count += events.length;
  }
  return count === plan.count && planHash({ ...plan, facts: factsOf(plan) }, digest.hex()) === plan.hash;
}
