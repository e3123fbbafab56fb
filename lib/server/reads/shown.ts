import 'server-only';
import type { DeadRow } from '@/lib/outbox/lists/dead-letters';
import { hiddenFields } from '@/lib/outbox/masking/hidden-fields';
import { maskErrors } from '@/lib/outbox/masking/hidden-in-errors';
import { presentEvent } from '@/lib/outbox/masking/mask';
import type { Outbox } from '@/lib/outbox/outbox';
import { FILTER_FIELDS, FILTER_READS, type FilterField, type ParsedFilter } from '@/lib/shared/lists/event-filter';
import type { OutboxEvent, EventFilter } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import type { Context } from '../context';

export const seesAll = ({ actor }: Pick<Context, 'actor'>): boolean => can(actor.role, 'payload:unmask');

/** Events as this actor may see them: masked, and without the version, which helps to guess contents, if they may not operate. */
export const shownEvents = async (context: Context, outbox: Outbox, events: OutboxEvent[]): Promise<OutboxEvent[]> =>
  presentedEvents(context, outbox, seesAll(context) ? events : await maskErrors(outbox, events));

/** The same for events whose errors are masked already, if this actor may not see all. */
export function presentedEvents(context: Context, outbox: Outbox, events: OutboxEvent[]): OutboxEvent[] {
  const seen = seesAll(context) ? events : events.map((event) => presentEvent(outbox, event, false));
  return can(context.actor.role, 'event:operate') ? seen : seen.map((event) => ({ ...event, version: null }));
}

/** The error of one event, as this actor may see it; null where that cannot be told. */
export async function shownError(context: Context, outbox: Outbox, id: string, error: string | null): Promise<string | null> {
  if (seesAll(context)) return error;
  if (hiddenFields(outbox.settings).has('error')) return null;
  const [masked] = await maskErrors(outbox, [{ id, error }]);
  return masked?.error ?? null;
}

/** Dead events with types and errors as this actor may see them, to be counted or searched by cause. */
export async function shownCauses(context: Context, outbox: Outbox, rows: DeadRow[]): Promise<DeadRow[]> {
  if (seesAll(context)) return rows;
  const hidden = hiddenFields(outbox.settings);
  const masked = await maskErrors(outbox, rows);
  const none = Object.fromEntries(
    (['type', 'error', 'amount', 'currency'] as const).filter((field) => hidden.has(field)).map((field) => [field, null]),
  );
  return masked.map((row) => ({ ...row, ...none }));
}

/** Filters this actor may not use on an outbox, each with the hidden field it reads. Throws Problem `not_found`. */
export function hiddenFilters(context: Context, outbox: string): Partial<Record<FilterField, keyof OutboxEvent>> {
  const settings = context.console.directory.settings(outbox);
  if (seesAll(context)) return {};
  // Errors are shown in part: searching the whole text would confirm the rest.
  const hidden: ReadonlySet<keyof OutboxEvent> = new Set<keyof OutboxEvent>(['error', ...hiddenFields(settings)]);
  return Object.fromEntries(
    FILTER_FIELDS.flatMap((filter) => {
      const field = FILTER_READS[filter].find((one) => hidden.has(one));
      return field === undefined ? [] : [[filter, field]];
    }),
  );
}

/** Refuses filters on fields hidden from this actor, before anything is read. Throws Problem `forbidden` naming each, `not_found`. */
export function refuseHidden(context: Context, outbox: string, filter: EventFilter): void {
  const refused = Object.entries(hiddenFilters(context, outbox)).filter(([name]) => filter[name as FilterField] !== undefined);
  if (refused.length === 0) return;
  const fields = Object.fromEntries(
    refused.map(([name, field]) => [name, `reads ${field}, which is hidden from the role ${context.actor.role}`]),
  );
  const detail = Object.entries(fields).map(([name, text]) => `${name}: ${text}`);
  throw new Problem('forbidden', `This list cannot be filtered like that: ${detail.join('; ')}`, { fields });
}

/** Filters this actor may not use on one of these outboxes: no screen offers them. */
export function filtersHidden(context: Context, outboxes: readonly string[]): FilterField[] {
  const hidden = new Set(outboxes.flatMap((outbox) => Object.keys(hiddenFilters(context, outbox))));
  return FILTER_FIELDS.filter((field) => hidden.has(field));
}

/** A link's filter as its screen may use it: filters this actor may not use become errors. */
export function visibleFilter(context: Context, outboxes: readonly string[], { filter, errors }: ParsedFilter): ParsedFilter {
  const seen: ParsedFilter = { filter: { ...filter }, errors: { ...errors } };
  for (const outbox of outboxes) {
    for (const [name, field] of Object.entries(hiddenFilters(context, outbox)) as [FilterField, string][]) {
      if (filter[name] === undefined) continue;
      seen.errors[name] = { code: 'hidden', value: field };
      Reflect.deleteProperty(seen.filter, name);
    }
  }
  return seen;
}
