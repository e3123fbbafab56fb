import 'server-only';
import type { DeadRow } from '@/lib/outbox/lists/dead-letters';
import { hiddenFields } from '@/lib/outbox/masking/hidden-fields';
import { maskErrors } from '@/lib/outbox/masking/hidden-in-errors';
import { presentEvent } from '@/lib/outbox/masking/mask';
import type { Outbox } from '@/lib/outbox/outbox';
import type { OutboxEvent } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import type { Context } from '../context';

export const seesAll = ({ actor }: Pick<Context, 'actor'>): boolean => can(actor.role, 'payload:unmask');

/** Events as this asker may see them: masked, and without the version where they could do nothing with it but guess what it is made of. */
export async function shownEvents(context: Context, outbox: Outbox, events: OutboxEvent[]): Promise<OutboxEvent[]> {
  return presentedEvents(context, outbox, seesAll(context) ? events : await maskErrors(outbox, events));
}

/** The same of events whose errors are masked already, for who does not see all. */
export function presentedEvents(context: Context, outbox: Outbox, events: OutboxEvent[]): OutboxEvent[] {
  const seen = seesAll(context) ? events : events.map((event) => presentEvent(outbox, event, false));
  return can(context.actor.role, 'event:operate') ? seen : seen.map((event) => ({ ...event, version: null }));
}

/** Dead events with their types and errors as this asker may see them, to be counted or looked for by their causes. */
export async function shownCauses(context: Context, outbox: Outbox, rows: DeadRow[]): Promise<DeadRow[]> {
  if (seesAll(context)) return rows;
  const hidden = hiddenFields(outbox.settings);
  const masked = await maskErrors(outbox, rows);
  return masked.map((row) => ({ ...row, ...(hidden.has('type') && { type: null }), ...(hidden.has('error') && { error: null }) }));
}
