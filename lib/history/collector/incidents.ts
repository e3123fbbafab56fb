/** When verdicts begin to hold and end, kept by the owner of an outbox's lease: what flaps, and what lasts over a restart, is one span. */
import type { Held, Verdict } from '@/lib/shared/figures/verdicts';
import { underLease, type Lease } from '@/lib/store/collector-leases';
import type { Store } from '@/lib/store/store';
import { putVerdictChanges, type VerdictChanges } from '@/lib/store/verdict-spans';

export interface HoldsNow {
  /** By the clock of the observed database, or ours if it cannot be read; ISO 8601 UTC. */
  at: string;
  holds: readonly Held[];
  /** The outbox cannot be read: of all other verdicts nothing is known. */
  blind: boolean;
}

/** A verdict that holds again within this time goes on. */
const GOES_ON_MS = 60_000;
/** Rules that compare readings may not hold yet in a session that has just begun: nothing ends in this time. */
const YOUNG_MS = 300_000;
/** If nobody collected for longer, what began in that time is another incident. */
const AWAY_MS = 600_000;

export class Incidents {
  /** Verdicts of open spans that do not hold at the moment, and since when. */
  private readonly absent = new Map<Verdict, string>();

  /** `seenAt`: up to when the outbox was collected before. */
  constructor(
    private readonly open: Map<Verdict, string>,
    private seenAt: string | null,
    private readonly begunAt = Date.now(),
  ) {}

  async enter(store: Store, lease: Lease, held: HoldsNow): Promise<void> {
    const changes = this.changes(held);
    if (changes.begun.length + changes.ended.length > 0)
      await underLease(store, lease, (db) => putVerdictChanges(db, lease.outbox, changes));
    for (const { verdict } of changes.ended) this.open.delete(verdict);
    for (const { verdict, at } of changes.begun) this.open.set(verdict, at);
    if (!held.blind) this.seenAt = null;
  }

  /** Pure but for what is absent since when. */
  changes({ at, holds, blind }: HoldsNow, now = Date.now()): VerdictChanges {
    const { seenAt } = this;
    const begun: VerdictChanges['begun'] = [];
    const ended: VerdictChanges['ended'] = [];
    for (const { verdict, since } of holds) {
      this.absent.delete(verdict);
      const isNew = seenAt !== null && since !== null && !blind && msBetween(seenAt, since) > AWAY_MS;
      if (this.open.has(verdict) && !isNew) continue;
      if (this.open.has(verdict)) ended.push({ verdict, at: seenAt ?? at });
      begun.push({ verdict, at: since ?? at });
    }
    for (const verdict of blind ? [] : this.open.keys()) {
      if (holds.some((one) => one.verdict === verdict)) continue;
      const since = this.absent.get(verdict) ?? at;
      this.absent.set(verdict, since);
      if (now - this.begunAt >= YOUNG_MS && msBetween(since, at) >= GOES_ON_MS) ended.push({ verdict, at: since });
    }
    return { begun, ended };
  }
}

const msBetween = (from: string, to: string): number => Date.parse(to) - Date.parse(from);
