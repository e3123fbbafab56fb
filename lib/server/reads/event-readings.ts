import 'server-only';
import { DatabaseFailure } from '@/lib/database/failure';
import { offersFor, stepLetters } from '@/lib/interventions/offers';
import { databaseProblem } from '@/lib/outbox/directory';
import { getEvent, type StoredEvent } from '@/lib/outbox/rows/get-event';
import { maskErrors } from '@/lib/outbox/masking/hidden-in-errors';
import { neighboursOf, type Around } from '@/lib/outbox/lists/neighbours';
import type { Outbox } from '@/lib/outbox/outbox';
import type { EventDetail } from '@/lib/shared/model';
import { SHARED_EVENT_MS } from '@/lib/shared/polling';
import { together } from './together';

/** An event with all that is read again and again while its page is open: nothing masked, and no content. */
export interface EventReading {
  stored: StoredEvent;
  around: Around;
  operations: EventDetail['operations'];
  /** The neighbours for who may not see what errors quote: worked out for the first who asks. */
  masked(): Promise<Around>;
}

/** Events of an outbox whose last reading is kept. */
const EVENTS = 200;

interface Last {
  beganAt: number;
  reading: Promise<EventReading | null>;
}

/** Goes with the binding of the outbox: another one may offer other operations. */
const ofOutboxes = new WeakMap<Outbox, Map<string, Last>>();

/**
 * The newest reading of an event for who was last told at `since`; without it one that begins after the question, shared with
 * whoever asks meanwhile. Two statements, however many look at the event. null when no table of the outbox holds it.
 */
export async function eventReading(outbox: Outbox, id: string, since: string | null): Promise<EventReading | null> {
  const events = ofOutboxes.get(outbox) ?? new Map<string, Last>();
  ofOutboxes.set(outbox, events);
  for (
    let last = events.get(id);
    since !== null && last !== undefined && Date.now() - last.beganAt < SHARED_EVENT_MS;
    last = events.get(id)
  ) {
    const found = await last.reading.catch(() => null);
    if (found !== null && found.stored.asOf > since) return found;
    // Somebody else's may have begun meanwhile.
    if (events.get(id) === last) break;
  }
  return together(outbox, ['event', id], () => {
    const reading = read(outbox, id);
    // Read last comes last.
    events.delete(id);
    events.set(id, { beganAt: Date.now(), reading });
    const [oldest] = events.keys();
    if (events.size > EVENTS && oldest !== undefined) events.delete(oldest);
    return reading;
  });
}

async function read(outbox: Outbox, id: string): Promise<EventReading | null> {
  const stored = await getEvent(outbox, id, stepLetters(outbox));
  if (stored === null) return null;
  const around = await neighboursOrNone(outbox, stored);
  let masked: Promise<Around> | null = null;
  return {
    stored,
    around,
    operations: offersFor(outbox, stored),
    masked: () => (masked ??= maskNeighbours(outbox, around)),
  };
}

async function maskNeighbours(outbox: Outbox, { neighbours, complete }: Around): Promise<Around> {
  const events = await maskErrors(
    outbox,
    neighbours.map(({ event }) => event),
  );
  return { neighbours: neighbours.map((neighbour, index) => ({ ...neighbour, event: events[index] ?? neighbour.event })), complete };
}

/** The page is worth showing without its neighbours: an aggregate without an index may take too long. */
async function neighboursOrNone(outbox: Outbox, stored: StoredEvent): Promise<Around> {
  try {
    return await neighboursOf(outbox, stored.event);
  } catch (error) {
    if (error instanceof DatabaseFailure && error.code === 'timeout') return aloneOf(stored);
    throw error instanceof DatabaseFailure ? databaseProblem(error, outbox.database.id) : error;
  }
}

/** The event among no others, of whom nothing is said. */
export function aloneOf({ event }: StoredEvent): Around {
  return { neighbours: [{ event: { ...event, error: null }, current: true, blocked: false, overtaken: false }], complete: false };
}
