import 'server-only';
import { hiddenFields } from '@/lib/outbox/masking/hidden-fields';
import { FILTER_FIELDS, FILTER_READS, type FilterField, type ParsedFilter } from '@/lib/shared/lists/event-filter';
import type { EventFilter, OutboxEvent } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { Context } from '../context';
import { seesAll } from './shown';

/** The filters that are not this asker's to use on an outbox, each with the field it reads that is hidden from them. Throws Problem `not_found`. */
export function hiddenFilters(context: Context, outbox: string): Partial<Record<FilterField, keyof OutboxEvent>> {
  const settings = context.console.directory.settings(outbox);
  if (seesAll(context)) return {};
  // Of an error only what is left of it is shown: what is found in the whole would confirm the rest.
  const hidden: ReadonlySet<keyof OutboxEvent> = new Set<keyof OutboxEvent>(['error', ...hiddenFields(settings)]);
  return Object.fromEntries(
    FILTER_FIELDS.flatMap((filter) => {
      const field = FILTER_READS[filter].find((one) => hidden.has(one));
      return field === undefined ? [] : [[filter, field]];
    }),
  );
}

/** Refuses a filter that reads what is hidden from the asker, before anything is read. Throws Problem `forbidden` naming each, and `not_found`. */
export function refuseHidden(context: Context, outbox: string, filter: EventFilter): void {
  const refused = Object.entries(hiddenFilters(context, outbox)).filter(([name]) => filter[name as FilterField] !== undefined);
  if (refused.length === 0) return;
  const fields = Object.fromEntries(
    refused.map(([name, field]) => [name, `reads ${field}, which is hidden from the role ${context.actor.role}`]),
  );
  const detail = Object.entries(fields).map(([name, text]) => `${name}: ${text}`);
  throw new Problem('forbidden', `This list cannot be filtered like that: ${detail.join('; ')}`, { fields });
}

/** The filters that are not this asker's to use on one of these outboxes: no screen offers them. */
export function filtersHidden(context: Context, outboxes: readonly string[]): FilterField[] {
  const hidden = new Set(outboxes.flatMap((outbox) => Object.keys(hiddenFilters(context, outbox))));
  return FILTER_FIELDS.filter((field) => hidden.has(field));
}

/** The filter of a link as its screen may use it: what is not the asker's is left out, and said. */
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
