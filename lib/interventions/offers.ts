/** What every operation would do to one event: read once, then judged in memory by the rules that judge an intervention. */
import { sql } from 'kysely';
import type { ExtraText, StoredEvent } from '@/lib/outbox/rows/get-event';
import type { Outbox } from '@/lib/outbox/outbox';
import type { EventDetail } from '@/lib/shared/model';
import { decodeVersion } from '@/lib/outbox/rows/version';
import { reasonsFor } from './classify';
import { asked, stepsOf } from './operation';
import { OPERATIONS } from './operations';
import { fitsPublished } from './published';
import { olderThanStuckAfter } from './statements';

/** A step applies to the row; applies, but the row is too young; does not apply. */
const [FITS, YOUNG, NOT] = ['y', 't', 'n'];

/** One letter for whether the row counts as published, then one per step from its place, in the order of OPERATIONS. */
export const stepLetters =
  (outbox: Outbox): ExtraText =>
  (at) => {
    const steps = OPERATIONS.flatMap((operation) => stepsOf(outbox, operation)).filter(({ source }) => source.key === at.place.key);
    const letters = steps.map((step) => {
      return sql`case when ${step.match(at)} then (case when ${olderThanStuckAfter(outbox, step, at)} then ${sql.lit(FITS)} else ${sql.lit(YOUNG)} end) else ${sql.lit(NOT)} end`;
    });
    const out = sql`case when ${fitsPublished(outbox, at)} then ${sql.lit(FITS)} else ${sql.lit(NOT)} end`;
    return sql`concat(${sql.join([out, ...letters])})`;
  };

/** For an event read with `stepLetters`. Hints only: the guard decides again. */
export function offersFor(outbox: Outbox, { place, event, beside }: StoredEvent): EventDetail['operations'] {
  const { id } = event;
  const version = decodeVersion(event.version);
  if (version === null) return {};
  const published = beside[0] === FITS ? 'fits' : null;
  const touched = version.touched === null ? null : String(version.touched);
  const row = { ...version, ...event, place, published, touched };
  let read = 1;
  const entries = OPERATIONS.map((operation) => {
    const steps = stepsOf(outbox, operation);
    const own = steps.filter(({ source }) => source.key === place).map((step) => ({ step, letter: beside[read++] }));
    const fitting = own.filter(({ letter }) => letter !== NOT);
    const matches = new Map(fitting.map(({ step }) => [step, new Set([id])]));
    const tooYoung = new Set(fitting.some(({ letter }) => letter === YOUNG) ? [id] : []);
    const [reason] = reasonsFor({ outbox, operation }, steps, asked(outbox, [event]), new Map([[id, row]]), { matches, tooYoung });
    const allowed = reason?.lockedOnly === true;
    const because = allowed ? null : (reason?.record.detail?.because ?? reason?.record.code ?? null);
    const warnings = allowed ? [...new Set(fitting.flatMap(({ step }) => step.warnings))] : [];
    return [operation.key, { allowed, because, warnings }] as const;
  });
  return Object.fromEntries(entries);
}
