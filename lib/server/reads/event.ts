import 'server-only';
import { failureAs } from '@/lib/database/failure';
import { recordedValue } from '@/lib/interventions/fates';
import { offersFor, stepLetters } from '@/lib/interventions/offers';
import { asProblem } from '@/lib/outbox/directory';
import { neighboursOf, type Around } from '@/lib/outbox/lists/neighbours';
import { hiddenFields } from '@/lib/outbox/masking/hidden-fields';
import { maskErrors, maskErrorBeside } from '@/lib/outbox/masking/hidden-in-errors';
import { presentContent } from '@/lib/outbox/masking/mask';
import type { Outbox } from '@/lib/outbox/outbox';
import type { StoredContent } from '@/lib/outbox/rows/content';
import { contentOf, notNow, type EventContent } from '@/lib/outbox/rows/event-content';
import { getEvent, type StoredEvent } from '@/lib/outbox/rows/get-event';
import { linksOf } from '@/lib/outbox/rows/links';
import { within } from '@/lib/shared/async/within';
import { perObject } from '@/lib/shared/kept';
import type { AuditEntry, EventDetail, EventUpdate, OutboxEvent } from '@/lib/shared/model';
import { SHARED_EVENT_MS } from '@/lib/shared/polling';
import { Problem } from '@/lib/shared/problems';
import { randomUUID } from 'node:crypto';
import type { Context } from '../context';
import { readAudit } from './audit';
import { presentedEvents, seesAll } from './shown';
import { blockedBehind } from './events';
import { onOutbox } from './outboxes';
import { together } from './together';

/** What is read again and again while an event's page is open: unmasked, without content. */
type EventReading = NonNullable<Awaited<ReturnType<typeof read>>>;

const EVENTS = 200;

interface Last {
  beganAt: number;
  reading: Promise<EventReading | null>;
}

/** Dropped with the outbox's binding: another one may offer other operations. */
const lastOf = perObject<Outbox, Map<string, Last>>(() => new Map());

/** The newest reading of an event after `since`; without it, one that begins after the call. Shared by all who ask; null if not found. */
async function eventReading(outbox: Outbox, id: string, since: string | null): Promise<EventReading | null> {
  const events = lastOf(outbox);
  let last = events.get(id);
  while (since !== null && last !== undefined && Date.now() - last.beganAt < SHARED_EVENT_MS) {
    const found = await last.reading.catch(() => null);
    if (found !== null && found.stored.asOf > since) return found;
    // Another caller's reading may have begun meanwhile.
    const next = events.get(id);
    last = next === last ? undefined : next;
  }
  return together(outbox, ['event', id], () => {
    const reading = read(outbox, id);
    // The last read comes last.
    events.delete(id);
    events.set(id, { beganAt: Date.now(), reading });
    const [oldest] = events.keys();
    if (events.size > EVENTS && oldest !== undefined) events.delete(oldest);
    return reading;
  });
}

/** `masked`: the neighbours for roles that may not see what errors quote; computed on the first call. */
async function read(outbox: Outbox, id: string) {
  const stored = await getEvent(outbox, id, stepLetters(outbox));
  if (stored === null) return null;
  const around = await neighboursOrNone(outbox, stored);
  let masked: Promise<Around> | null = null;
  const maskAll = async () => withEvents(around, await maskErrors(outbox, eventsOf(around)));
  return { stored, around, operations: offersFor(outbox, stored), masked: () => (masked ??= maskAll()) };
}

const eventsOf = ({ neighbours }: Around): OutboxEvent[] => neighbours.map(({ event }) => event);

const withEvents = ({ neighbours, complete }: Around, events: readonly OutboxEvent[]): Around => ({
  neighbours: neighbours.map((neighbour, index) => ({ ...neighbour, event: events[index] ?? neighbour.event })),
  complete,
});

/** The page is shown without neighbours if they take too long: an aggregate may have no index. */
const neighboursOrNone = (outbox: Outbox, stored: StoredEvent): Promise<Around> =>
  neighboursOf(outbox, stored.event)
    .catch(failureAs(aloneOf(stored), 'timeout'))
    .catch(asProblem(outbox));

/** The event without neighbours, as these are unknown. */
const aloneOf = ({ event }: StoredEvent): Around => ({
  neighbours: [{ event: { ...event, error: null }, current: true, blocked: false, overtaken: false }],
  complete: false,
});

const INTERVENTIONS_SHOWN = 50;

/** Contents are read one event at a time; the rest of a page waits no longer than this. */
const CONTENT_WITHIN_MS = 500;

interface DetailRequest {
  /** Also content of up to 4 MB, which is only read on request. */
  full?: boolean | undefined;
  /** Time of the caller's last reading, ISO 8601: another caller's later reading is enough. */
  since?: string | undefined;
  contentKey?: string | undefined;
}

/** Everything about one event, masked for this actor. Throws Problem `not_found` if no table of the outbox has it. */
export const readEventDetail = async (context: Context, outboxId: string, eventId: string, full = false): Promise<EventDetail> =>
  (await readDetail(context, outboxId, eventId, { full })).detail;

/** The same for a polling screen: without content that it already has. */
export async function readEventUpdate(context: Context, outboxId: string, eventId: string, request: DetailRequest): Promise<EventUpdate> {
  const { detail, contentKey } = await readDetail(context, outboxId, eventId, request);
  const { payload, headers, ...rest } = detail;
  return contentKey === request.contentKey ? { ...rest, contentKey } : { ...rest, payload, headers, contentKey };
}

function readDetail(context: Context, outboxId: string, eventId: string, request: DetailRequest) {
  return onOutbox(context, outboxId, async (outbox) => {
    const reading = await eventReading(outbox, eventId, request.since ?? null);
    if (reading === null) {
      const detail = `Outbox ${outboxId} holds no event with this id: it may have been purged by its owner, or the id is another one's`;
      throw new Problem('not_found', detail);
    }
    const { stored, operations } = reading;
    const unmask = seesAll(context);
    const [audit, content, around, blocking] = await Promise.all([
      readAudit(context, { outbox: outboxId, event: eventId }, { limit: INTERVENTIONS_SHOWN }),
      contentInTime(outbox, stored, request.full === true),
      neighboursFor(outbox, reading, unmask),
      blockedBehind(context, outboxId, [stored.event]),
    ]);
    const { error, contentKey, payload, headers } = presented(outbox, stored, content, unmask);
    const [event = stored.event] = presentedEvents(context, outbox, [{ ...stored.event, error }]);
    const { asOf, claim, archived } = stored;
    const { state } = stored.event;
    const { neighbours } = withEvents(around, presentedEvents(context, outbox, eventsOf(around)));
    const detail: EventDetail = {
      asOf,
      event,
      claim,
      payload,
      headers,
      neighbours,
      neighboursComplete: around.complete,
      blocks: blocking?.others ?? null,
      interventions: audit.entries,
      triedBefore: Object.fromEntries(audit.entries.map((entry) => [entry.id, triedBefore(outbox, entry)])),
      links: linksOf(outbox.settings.links, event, payload, headers),
      warnings: state === 'archived' || state === 'unmapped' ? [] : (outbox.shape.cautions[state] ?? []),
      operations,
      archived,
    };
    return { detail, contentKey };
  });
}

const triedBefore = (outbox: Outbox, { before }: AuditEntry): EventDetail['triedBefore'][string] => ({
  attempts: recordedValue(outbox, 'attempts', before) ?? null,
  error: recordedValue(outbox, 'error', before) ?? null,
});

/** A request for all content waits for it; otherwise the page is shown without, and the next poll brings it. */
async function contentInTime(outbox: Outbox, stored: StoredEvent, full: boolean): Promise<EventContent> {
  const content = contentOf(outbox, stored, full);
  return full ? content : ((await within(content, CONTENT_WITHIN_MS)) ?? notNow(outbox, stored.place));
}

/** Listing the events of an aggregate would reveal a hidden one. */
function neighboursFor(outbox: Outbox, reading: EventReading, unmask: boolean): Around | Promise<Around> {
  if (unmask) return reading.around;
  const hidden = hiddenFields(outbox.settings);
  return hidden.has('aggregateId') || hidden.has('aggregateType') ? aloneOf(reading.stored) : reading.masked();
}

type Presented = Pick<EventDetail, 'payload' | 'headers'> & { error: string | null; contentKey: string };

/** By `unmask`: megabytes are not parsed again for every poll. */
const waysOf = perObject<EventContent, Map<boolean, Presented>>(() => new Map());

function presented(outbox: Outbox, { event }: StoredEvent, content: EventContent, unmask: boolean): Presented {
  const ways = waysOf(content);
  const before = ways.get(unmask);
  if (before !== undefined) return before;
  const payload = presentContent(outbox, 'payload', content.payload, unmask);
  const headers = content.headers === null ? null : presentContent(outbox, 'headers', content.headers, unmask);
  const whole = content.error ?? event.error;
  const searchable = isWhole(content.payload) && isWhole(content.headers) ? content : null;
  const now = { payload, headers, error: unmask ? whole : maskErrorBeside(outbox, whole, searchable), contentKey: randomUUID() };
  ways.set(unmask, now);
  return now;
}

const isWhole = (stored: StoredContent | null): boolean => stored === null || (stored.unread === undefined && stored.estimated !== true);
