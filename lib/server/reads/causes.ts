import 'server-only';
import { createHash } from 'node:crypto';
import { DEAD_SCANNED_MAX, newestDead } from '@/lib/outbox/lists/dead-letters';
import type { Outbox } from '@/lib/outbox/outbox';
import { within } from '@/lib/shared/async/within';
import { errorTemplate } from '@/lib/shared/lists/cause';
import { groupByCause } from '@/lib/shared/dead-letter-groups';
import type { DeadLetterGroup, DeadLetters } from '@/lib/shared/model';
import type { Context } from '../context';
import { onOutbox } from './outboxes';
import { seesAll, shownCauses } from './shown';
import { together } from './together';

export interface Causes {
  /** When they were read, by the console's clock; ISO 8601 UTC. */
  asOf: string;
  /** Largest first, and how many smaller ones there are. */
  groups: DeadLetterGroup[];
  more: number;
  searched: NonNullable<DeadLetters['searched']>;
}

interface Kept {
  causes: Causes;
  /** How many were dead then, as the caller knew. */
  dead: number | null;
}

const GROUPS_MAX = 200;

/** By whether the reader sees all. Dropped with the outbox's binding. */
const ofOutboxes = new WeakMap<Outbox, Map<boolean, Kept>>();

/** Causes of the newest dead events as this actor may see them: kept for `keptMs` while as many are dead, otherwise read, once for all who ask. */
export async function causesOf(context: Context, outbox: Outbox, dead: number | null, keptMs: number): Promise<Causes> {
  const all = seesAll(context);
  const kept = ofOutboxes.get(outbox) ?? new Map<boolean, Kept>();
  ofOutboxes.set(outbox, kept);
  const recent = (): Causes | null => {
    const last = kept.get(all);
    const willDo = last !== undefined && (dead === null || last.dead === dead) && Date.now() - Date.parse(last.causes.asOf) < keptMs;
    return willDo ? last.causes : null;
  };
  const known = recent();
  if (known !== null) return known;
  return together(outbox, ['causes', all, keptMs > 0], async () => {
    // Read meanwhile: whom what is kept will do, it was read for as well.
    const meanwhile = recent();
    if (meanwhile !== null) return meanwhile;
    const asOf = new Date().toISOString();
    const rows = await newestDead(outbox, !all);
    const searched = { rows: rows.length, complete: rows.length < DEAD_SCANNED_MAX };
    const groups = groupByCause(outbox.settings.id, await shownCauses(context, outbox, rows));
    const causes = { asOf, groups: groups.slice(0, GROUPS_MAX), more: Math.max(0, groups.length - GROUPS_MAX), searched };
    kept.set(all, { causes, dead });
    return causes;
  });
}

/** The same as far as it is known within `waitMs`, from before if need be and then at once; null while nothing is, or where it cannot be read. */
export async function knownCauses(context: Context, outboxId: string, keptMs: number, waitMs: number): Promise<Causes | null> {
  const outbox = await within(context.console.directory.get(outboxId), waitMs).catch(() => null);
  if (outbox === null) return null;
  const newest = causesOf(context, outbox, null, keptMs).catch(() => null);
  const before = ofOutboxes.get(outbox)?.get(seesAll(context))?.causes ?? null;
  return (await within(newest, before === null ? waitMs : 0)) ?? before;
}

/** The causes of an outbox for scripts. Throws Problem `not_found`, `timeout`, `unavailable`. */
export const readGroups = (context: Context, outboxId: string) =>
  onOutbox(context, outboxId, async (outbox) => {
    const { groups, searched, ...causes } = await causesOf(context, outbox, null, 0);
    return { ...causes, groups: groups.map((group) => groupAnswer(group, searched.complete)), searched };
  });

function groupAnswer({ outbox: _, error, sums, ...group }: DeadLetterGroup, complete: boolean) {
  const template = error === null ? null : errorTemplate(error);
  return {
    id: createHash('sha256')
      .update(JSON.stringify([group.type, template]))
      .digest('hex')
      .slice(0, 16),
    ...{ template, known: complete ? 'exact' : 'capped', ...group },
    sums: Object.fromEntries(sums.map(({ amount, currency }) => [currency ?? '', amount])),
  };
}
