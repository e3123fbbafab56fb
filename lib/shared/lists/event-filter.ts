/** The filter of an event list in a URL, `?state=dead&type=order_complete&from=…`, for the screen and the HTTP route. */
import type { EventFilter, OutboxEvent } from '../model';
import { STATES, isState } from '../states';

/** Fields of the event that each filter reads: it is refused to viewers from whom one of them is hidden. */
export const FILTER_READS = {
  state: ['state'],
  type: ['type'],
  aggregate: ['aggregateId'],
  q: ['id', 'dedupKey', 'aggregateId'],
  error: ['error'],
  // Reads only what the viewer may see of type and error.
  cause: [],
  from: ['createdAt'],
  to: ['createdAt'],
  order: ['createdAt'],
} as const satisfies Record<string, readonly (keyof OutboxEvent)[]>;
export type FilterField = keyof typeof FILTER_READS;
export const FILTER_FIELDS = Object.keys(FILTER_READS) as FilterField[];

const TEXT_FIELDS = ['aggregate', 'q', 'error', 'cause'] as const;
const TIME_FIELDS = ['from', 'to'] as const;

/** What is wrong with a field; texts under `events.filterErrors.<code>`, English in `describeFilterErrors`. */
export interface FilterError {
  code: 'unknown_state' | 'unknown_order' | 'not_a_time' | 'no_zone' | 'empty_range' | 'too_long' | 'too_many' | 'bad_character' | 'hidden';
  /** The given value, cut to 80 characters. */
  value: string;
}
export type FilterErrors = Partial<Record<FilterField, FilterError>>;

export interface ParsedFilter {
  filter: EventFilter;
  errors: FilterErrors;
}

export const FILTER_TEXT_MAX = 300;
/** Longer, as a cause may be given as the whole error that a list shows; only its beginning counts. */
const CAUSE_MAX = 600;
const maxOf = (field: string): number => (field === 'cause' ? CAUSE_MAX : FILTER_TEXT_MAX);
export const FILTER_TYPES_MAX = 50;

/** Parses a filter from a query string. Ignores keys that are not of the filter (`cursor`, `limit`, `columns`). */
export function parseEventFilter(params: URLSearchParams): ParsedFilter {
  const errors: FilterErrors = {};
  const filter: EventFilter = {};
  const fail = (field: FilterField, code: FilterError['code'], value: string) => {
    errors[field] ??= { code, value: value.slice(0, 80) };
  };
  const text = (field: FilterField, value: string): string | undefined => {
    if (value.length > maxOf(field)) fail(field, 'too_long', value);
    // PostgreSQL text cannot hold NUL: it would fail the statement.
    else if (value.includes('\0')) fail(field, 'bad_character', value);
    else return value;
    return undefined;
  };

  const states = params.getAll('state').flatMap((value) => value.split(',').map((one) => one.trim()));
  for (const value of states) if (value !== '' && !isState(value)) fail('state', 'unknown_state', value);
  if (states.some(isState)) filter.state = STATES.filter((state) => states.includes(state));

  const types = [...new Set(params.getAll('type').filter((value) => value !== ''))];
  if (types.length > FILTER_TYPES_MAX) fail('type', 'too_many', String(types.length));
  else {
    const kept = types.map((value) => text('type', value)).filter((value) => value !== undefined);
    if (kept.length > 0) filter.type = kept;
  }

  for (const field of TEXT_FIELDS) {
    const value = text(field, params.get(field) ?? '');
    if (value !== undefined && value.trim() !== '') filter[field] = value;
  }

  for (const field of TIME_FIELDS) {
    const given = params.get(field)?.trim();
    if (!given) continue;
    const time = parseInstant(given);
    if (typeof time === 'string') filter[field] = time;
    else fail(field, time.code, given);
  }
  if (filter.from !== undefined && filter.to !== undefined && sortable(filter.from) >= sortable(filter.to)) {
    fail('to', 'empty_range', filter.to);
    delete filter.to;
  }

  const order = params.get('order');
  if (order === 'oldest') filter.order = 'oldest';
  else if (order !== null && order !== '' && order !== 'newest') fail('order', 'unknown_order', order);
  return { filter, errors };
}

/** Ids a typed or pasted text may mean: the text itself, then without the spaces around it. */
export const idSpellings = (text: string): string[] => [...new Set([text, text.trim()])];

/** Writes a filter as a query string without the default order. `parseEventFilter` reads it back unchanged. */
export function serialiseEventFilter(filter: EventFilter): URLSearchParams {
  const params = new URLSearchParams();
  for (const state of STATES) if (filter.state?.includes(state)) params.append('state', state);
  for (const type of filter.type ?? []) params.append('type', type);
  for (const field of [...TEXT_FIELDS, ...TIME_FIELDS]) {
    const value = filter[field];
    if (value) params.set(field, value);
  }
  if (filter.order === 'oldest') params.set('order', 'oldest');
  return params;
}

/** Number of fields that narrow the list; the order is not one. */
export const countFilters = (filter: EventFilter): number =>
  FILTER_FIELDS.filter((field) => field !== 'order' && filter[field] !== undefined).length;

export function toSearchParams(record: Record<string, string | string[] | undefined>): URLSearchParams {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(record)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) params.append(key, one);
  }
  return params;
}

/** The errors in English by field, with what to do, for the `fields` of an `invalid` problem. */
export const describeFilterErrors = (errors: FilterErrors): Record<string, string> =>
  Object.fromEntries(Object.entries(errors).map(([field, { code, value }]) => [field, DESCRIPTIONS[code](value, field)]));

const DESCRIPTIONS: Record<FilterError['code'], (value: string, field: string) => string> = {
  unknown_state: (value) => `"${value}" is not a state; use ${STATES.join(', ')}`,
  unknown_order: (value) => `"${value}" is not an order; use newest or oldest`,
  not_a_time: (value) => `"${value}" is not a time; write it as 2026-01-31T14:00:00Z`,
  no_zone: (value) => `"${value}" names no time zone; end it with Z or an offset such as +09:00`,
  empty_range: (value) => `"${value}" is not after from; the range would be empty`,
  too_long: (_, field) => `longer than ${maxOf(field)} characters; shorten it`,
  too_many: (value) => `${value} types; name ${FILTER_TYPES_MAX} at most`,
  hidden: (value) => `reads ${value}, which is hidden from you`,
  bad_character: () => 'holds a NUL character, which no event can contain; remove it',
};

const INSTANT = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+\- ]\d{2}:?\d{2})?$/i;

/** Parses an instant of the years 1 to 9999 as UTC with all its sub-second digits (Date has milliseconds only), or says why not. */
export function parseInstant(given: string): string | { code: 'not_a_time' | 'no_zone' } {
  const match = INSTANT.exec(given);
  if (!match) return { code: /^\d{4}-\d{2}-\d{2}$/.test(given) ? 'no_zone' : 'not_a_time' };
  const [, year, month, day, hour, minute, second = '00', fraction, zone] = match;
  const local = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // Date turns 30 February into a day of March and 24:00 into the next day: both are errors here.
  if (Number.isNaN(local.getTime()) || !local.toISOString().startsWith(`${year}-${month}-${day}T${hour}`)) return { code: 'not_a_time' };
  if (zone === undefined) return { code: 'no_zone' };
  const utc = new Date(local.getTime() - offsetMinutes(zone) * 60_000).toISOString();
  if (!/^(?!0000)\d{4}-/.test(utc)) return { code: 'not_a_time' };
  const digits = (fraction ?? '').replace(/0+$/, '');
  return `${utc.slice(0, 19)}${digits === '' ? '' : `.${digits}`}Z`;
}

/** An unencoded `+` in a URL arrives as a space. */
function offsetMinutes(zone: string): number {
  if (zone.toUpperCase() === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return zone.startsWith('-') ? -minutes : minutes;
}

/** A result of `parseInstant` as text that sorts by time, sub-millisecond digits included. */
const sortable = (instant: string): string => `${instant.slice(0, 19)}${instant.slice(20, -1).padEnd(9, '0')}`;
