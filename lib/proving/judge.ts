/** What an operation promises, and whether a row kept it. */
import type { Step } from '@/lib/interventions/operation';
import { plainColumn, type Outbox, type Place } from '@/lib/outbox/outbox';
import type { Value } from '@/lib/outbox/shape';
import type { ProofFailure, ProofNote } from '@/lib/shared/proofs';
import type { EventState, LiveState, State } from '@/lib/shared/states';
import { contentColumns, type Seen } from './look';

export interface Verdict {
  failure: { code: ProofFailure; detail: string | null } | null;
  changed: string[];
  notes: { code: ProofNote; detail: string | null }[];
}

/** States an operation may leave an event in, for events that were in `from` and now count so many attempts. */
export function promised(outbox: Outbox, operation: string, from: LiveState, attempts: number | null): State[] {
  const canShow = (state: State): boolean => outbox.capabilities.states[state].available;
  if (operation === 'archive') return ['archived'];
  // A pending event comes back as dead where the shape has dead, so that no relay sends it unasked.
  if (operation === 'restore') return from === 'pending' && outbox.shape.asDead !== undefined ? ['dead'] : [from];
  // Starting over means that no failure is counted, where the table can show the difference.
  if (operation === 'requeue' && attempts !== null && attempts > 0 && canShow('pending')) return ['pending'];
  return ['pending', 'retrying'];
}

/** Compares a row before and after: state, the columns the step names, and everything else. */
export function judge(
  outbox: Outbox,
  trial: { operation: string; state: LiveState },
  step: Step,
  row: { before: Seen; after: Seen; wanted: Record<string, string | null> },
): Verdict {
  const { before, after, wanted } = row;
  const mapped = step.target === null || step.target.key === 'archive' ? {} : (outbox.shape.dead?.map ?? {});
  // A column that takes its value from another one is not compared with its namesake.
  const changed = differing(before.columns, after.columns).filter((name) => !(name in mapped) && !Object.values(mapped).includes(name));
  const notes: Verdict['notes'] = [];
  const verdict = (code: ProofFailure, detail: string | null): Verdict => ({ failure: { code, detail }, changed, notes });

  const rewritten = Object.keys(wanted).filter((name) => !holds(step.set[name], wanted[name] ?? null, after.columns[name] ?? null));
  if (rewritten.length > 0) return verdict('rewritten', rewritten.join(', '));
  const written = step.call === null ? Object.keys(step.set) : step.call.writes;
  const others = changed.filter((name) => !written.includes(name));
  const meant = others.filter((name) => means(outbox, step, name));
  if (meant.length > 0) return verdict('touched_more', meant.join(', '));
  const states = promised(outbox, trial.operation, trial.state, after.event.attempts);
  if (!(states as EventState[]).includes(after.event.state)) return verdict('wrong_state_after', states.join(', '));
  if (others.length > 0) notes.push({ code: 'other_columns', detail: others.join(', ') });
  return { failure: null, changed, notes };
}

/** No transaction of a proof takes longer. */
const CLOCK_MOVES_MS = 15_000;

/** Whether a column holds what was to be written. On one engine the clock goes on between two statements. */
function holds(value: Value | undefined, wanted: string | null, found: string | null): boolean {
  if (wanted === found) return true;
  if (wanted === null || found === null || !JSON.stringify(value ?? null).includes('"now"')) return false;
  const [from, to] = [wanted, found].map((text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Date.parse(text)));
  const unitMs = /^\d{1,11}(\.\d+)?$/.test(wanted) ? 1_000 : 1;
  return from !== undefined && to !== undefined && (to - from) * unitMs >= 0 && (to - from) * unitMs <= CLOCK_MOVES_MS;
}

/** Columns both rows have and that differ. */
export function differing(before: Record<string, string | null>, after: Record<string, string | null>): string[] {
  return Object.keys(before).filter((name) => name in after && before[name] !== after[name]);
}

/** Roles by which a relay or a consumer tells events apart: no operation may alter them unless it says so. */
const IDENTITY = [
  'sequence', 'type', 'topic', 'aggregateType', 'aggregateId', 'orderingKey', 'createdAt', 'dedupKey', 'traceId', 'payload', 'headers',
] as const; // prettier-ignore

function isIdentity(place: Place, name: string): boolean {
  return place.id.some((column) => column.name === name) || IDENTITY.some((role) => plainColumn(place, role)?.name === name);
}

/** True for a column that the mapping gives a meaning that this step does not speak of. */
function means(outbox: Outbox, step: Step, name: string): boolean {
  const place = step.target ?? step.source;
  if (place.description.columns.get(name)?.generated === true) return false;
  if (contentColumns(place).has(name) || isIdentity(place, name)) return true;
  // What a library's function writes beside is the library's affair.
  if (step.call !== null) return false;
  return JSON.stringify(outbox.shape.states).includes(`"column":${JSON.stringify(name)}`);
}
