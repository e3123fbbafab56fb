import { LACKING_MAX, type Carrying, type LackReason } from '@/lib/shared/changes/carrying';

/** A record is in the audit within this time, or it is said that it may not be. */
const LATE_MS = 10_000;

/** What the audit lacks of the records of one database, and since when. Lengths of time come from no clock that can be set. */
export class Lack {
  private lacking = new Set<string>();
  private looked = false;
  /** All records are to be compared: nothing has been since the start, or since something failed. */
  private unsure = true;
  private trouble: LackReason | null = null;
  private completeAt: string | null = null;
  private since: { wall: string; ms: number } | null = null;

  constructor(
    private readonly database: string,
    private readonly outboxes: readonly string[],
  ) {
    this.judge();
  }

  /** Of these records, the newest ones, those that could not be brought. */
  found(ids: Iterable<string>, lacked: ReadonlySet<string>): void {
    this.looked = true;
    for (const id of ids) {
      if (!lacked.has(id)) this.lacking.delete(id);
      else if (this.lacking.size < LACKING_MAX) this.lacking.add(id);
    }
    this.judge();
  }

  /** All records have been compared. */
  walked(lacked: ReadonlySet<string>): void {
    this.looked = true;
    this.unsure = false;
    this.lacking = new Set(lacked);
    if (lacked.size === 0) this.completeAt = new Date().toISOString();
    this.judge();
  }

  /** What keeps all of them from being compared or brought; null: nothing does any more. */
  because(trouble: LackReason | null): void {
    this.trouble = trouble;
    if (trouble !== null) this.unsure = true;
    this.judge();
  }

  carrying(): Carrying {
    const { database, outboxes, looked, lacking, since, completeAt } = this;
    return {
      database,
      outboxes: [...outboxes],
      lacking: looked ? lacking.size : null,
      why: this.why(),
      since: since?.wall ?? null,
      late: since !== null && performance.now() - since.ms >= LATE_MS,
      completeAt,
    };
  }

  private why(): LackReason | null {
    if (this.trouble !== null) return this.trouble;
    if (this.lacking.size > 0) return 'record';
    return this.unsure ? 'looking' : null;
  }

  private judge(): void {
    if (this.why() === null) this.since = null;
    else this.since ??= { wall: new Date().toISOString(), ms: performance.now() };
  }
}
