/** What tests with a library's own writers share: an operator who looks and acts, and operators who race with its workers. */
import { getEvent } from '@/lib/outbox/get-event';
import { listEvents } from '@/lib/outbox/list-events';
import type { Outbox } from '@/lib/outbox/outbox';
import type { ProvenOutbox } from '@/scripts/testing/outbox';
import type { InterventionResult, OutboxEvent } from '@/lib/shared/model';
import type { LiveState } from '@/lib/shared/states';
import { intervene } from '../intervene';
import { ANNA, depsFor, freshKey } from '../testing';

/** One event as the console shows it; null when it is nowhere. */
export async function eventOf(outbox: Outbox, id: string): Promise<OutboxEvent | null> {
  return (await getEvent(outbox, id))?.event ?? null;
}

/** Looks at the events and carries the operation out on what was seen. */
export async function act(open: ProvenOutbox, operation: string, ...ids: string[]): Promise<InterventionResult> {
  const seen = await Promise.all(ids.map(async (id) => ({ id, version: (await eventOf(open.outbox, id))?.version ?? '' })));
  return carryOut(open, operation, seen);
}

/** Ids by state, from the list, one state at a time. */
export async function listedByState(outbox: Outbox, states: readonly LiveState[]): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const state of states) {
    const page = await listEvents(outbox, { state: [state] }, { limit: 200 });
    found[state] = page.events.map((event) => event.id).sort();
  }
  return found;
}

async function carryOut(
  { outbox, known }: ProvenOutbox,
  operation: string,
  events: { id: string; version: string }[],
): Promise<InterventionResult> {
  return intervene(depsFor(outbox, known), ANNA, outbox.id, { operation, events, reason: 'with the real thing' }, freshKey());
}

export interface Raced {
  /** Ids each operation changed, one entry per change. */
  changed: Record<string, string[]>;
  /** How often each code was the answer. */
  skipped: Record<string, number>;
}

/**
 * An operator who goes on until told to stop: lists a state, lets a moment pass, and acts on some of what it saw, as
 * often as not on rows that a worker has taken meanwhile.
 */
export async function race(
  open: ProvenOutbox,
  moves: readonly (readonly [operation: string, state: LiveState])[],
  stopped: () => boolean,
  random: () => number,
): Promise<Raced> {
  const raced: Raced = { changed: {}, skipped: {} };
  for (let turn = 0; !stopped(); turn++) {
    const [operation, state] = moves[turn % moves.length] ?? ['retry', 'dead'];
    const page = await listEvents(open.outbox, { state: [state] }, { limit: 20 });
    const some = page.events.filter(() => random() < 0.3).slice(0, 5);
    await new Promise((resolve) => setTimeout(resolve, 5 + random() * 20));
    if (some.length === 0) continue;
    const result = await carryOut(
      open,
      operation,
      some.map(({ id, version }) => ({ id, version })),
    );
    raced.changed[operation] = [...(raced.changed[operation] ?? []), ...result.changed];
    for (const { code } of result.skipped) raced.skipped[code] = (raced.skipped[code] ?? 0) + 1;
  }
  return raced;
}

/** The same numbers every time. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

/** Waits until a question has the answer yes; throws with what it was waiting for. */
export async function until(what: string, holds: () => Promise<boolean>, timeoutMs = 15_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`Waited ${timeoutMs} ms for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
