import 'server-only';
import { databaseProblem } from '@/lib/outbox/directory';
import { DatabaseFailure } from '@/lib/database/failure';
import { OPERATIONS } from '@/lib/interventions/operation-registry.gen';
import { previewIntervention } from '@/lib/interventions/preview';
import { getEvent, type StoredEvent } from '@/lib/outbox/get-event';
import { linksOf } from '@/lib/outbox/links';
import { maskErrors } from '@/lib/outbox/hidden-in-errors';
import { presentContent, presentEvent } from '@/lib/outbox/mask';
import { neighboursOf, type Around } from '@/lib/outbox/neighbours';
import type { Outbox } from '@/lib/outbox/outbox';
import type { EventDetail } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import type { Context } from '../context';
import { readAudit } from './audit';
import { onOutbox } from './source';

/** Entries of the audit shown on an event's page. */
const INTERVENTIONS_SHOWN = 50;

/** Everything about one event, masked for this actor. Throws Problem `not_found` when no table of the outbox holds it. */
export function readEventDetail(context: Context, outboxId: string, eventId: string): Promise<EventDetail> {
  return onOutbox(context, outboxId, async (outbox) => {
    const stored = await getEvent(outbox, eventId);
    if (stored === null)
      throw new Problem(
        'not_found',
        `Outbox ${outboxId} holds no event with this id: it may have been purged by its owner, or the id is another one's`,
      );
    const unmask = can(context.actor.role, 'payload:unmask');
    const [{ neighbours, complete: neighboursComplete }, audit, operations] = await Promise.all([
      neighboursOrNone(outbox, stored),
      readAudit(context, { outbox: outboxId, event: eventId }, { limit: INTERVENTIONS_SHOWN }),
      operationsFor(outbox, stored),
    ]);
    const payload = presentContent(outbox, 'payload', stored.payload, unmask);
    const headers = stored.headers === null ? null : presentContent(outbox, 'headers', stored.headers, unmask);
    const all = [stored.event, ...neighbours.map((neighbour) => neighbour.event)];
    const [own = stored.event, ...around] = unmask ? all : await maskErrors(outbox, all);
    const event = presentEvent(outbox, own, unmask);
    return {
      asOf: stored.asOf,
      event,
      claim: stored.claim,
      payload,
      headers,
      neighbours: neighbours.map((neighbour, index) => ({
        ...neighbour,
        event: presentEvent(outbox, around[index] ?? neighbour.event, unmask),
      })),
      neighboursComplete,
      interventions: audit.entries,
      links: linksOf(outbox.settings.links, event, payload, headers),
      warnings:
        stored.event.state === 'archived' || stored.event.state === 'unmapped' ? [] : (outbox.shape.cautions[stored.event.state] ?? []),
      operations,
      archived: stored.archived,
    };
  });
}

/** The page is worth showing without its neighbours: an aggregate without an index may take too long. */
async function neighboursOrNone(outbox: Outbox, stored: StoredEvent): Promise<Around> {
  try {
    return await neighboursOf(outbox, stored.event);
  } catch (error) {
    if (error instanceof DatabaseFailure && error.code === 'timeout')
      return { neighbours: [{ event: stored.event, current: true, blocked: false, overtaken: false }], complete: false };
    throw error instanceof DatabaseFailure ? databaseProblem(error, outbox.database.id) : error;
  }
}

/** What each operation would say to this event now; hints only, the guard decides again. */
async function operationsFor(outbox: Outbox, stored: StoredEvent): Promise<EventDetail['operations']> {
  const entries = await Promise.all(
    OPERATIONS.map(async ({ key }) => {
      const preview = await previewIntervention(outbox, {
        operation: key,
        events: [{ id: stored.event.id, version: stored.event.version }],
      });
      const row = preview.rows[0];
      const allowed = row?.allowed === true;
      return [key, { allowed, because: allowed ? null : (row?.because ?? row?.code ?? null), warnings: preview.warnings }] as const;
    }),
  );
  return Object.fromEntries(entries);
}
