/** Operators over HTTP, who go on while everything breaks around them and write down what they are told. */
import type { Random } from '@/demo/random';
import {
  INTERVENTION_EVENTS_MAX,
  type AuditEntry,
  type AuditPage,
  type EventPage,
  type InterventionResult,
  type VersionedEvent,
} from '@/lib/shared/model';
import { STATES, type State } from '@/lib/shared/states';
import type { SentKey, Told } from './evidence';

export interface Answer<T> {
  /** null: no answer came. */
  status: number | null;
  /** Of a 200. */
  value: T | null;
}

/** A console as somebody with a token sees it. */
export interface Api {
  get<T>(path: string, query?: Record<string, string>): Promise<Answer<T>>;
  post<T>(path: string, key: string, body: unknown): Promise<Answer<T>>;
}

export function apiOf(url: string, token: string): Api {
  const call = async <T>(path: string, init: RequestInit): Promise<Answer<T>> => {
    try {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers };
      const response = await fetch(`${url}/api/v1/${path}`, { ...init, headers });
      const value = (await response.json()) as T;
      return { status: response.status, value: response.status === 200 ? value : null };
    } catch {
      return { status: null, value: null };
    }
  };
  return {
    get: (path, query = {}) => call(`${path}?${new URLSearchParams(query).toString()}`, { method: 'GET' }),
    post: (path, key, body) => call(path, { method: 'POST', headers: { 'idempotency-key': key }, body: JSON.stringify(body) }),
  };
}

async function told(ask: Promise<Answer<InterventionResult>>): Promise<Told> {
  const sent = Date.now();
  const { status, value } = await ask;
  return { sent, ended: Date.now(), status, answer: value };
}

const isDefinite = ({ answer }: Told): boolean => answer !== null && answer.outcome !== 'unknown';
/** The request itself was refused, and would be again. */
const isFinal = (one: Told): boolean =>
  isDefinite(one) || (one.status !== null && one.status >= 400 && one.status < 500 && one.status !== 409);

export const askByKey = (api: Api, outbox: string, key: string): Promise<Told> => told(api.get('interventions', { outbox, key }));
export const askById = (api: Api, id: string): Promise<Told> => told(api.get(`interventions/${id}`));

export interface Operator {
  api: Api;
  outbox: string;
  hand: Random;
  /** Operations and the states each is tried on. */
  operations: Record<string, State[]>;
  /** As many events as an intervention takes. */
  bulk: boolean;
  /** Everything that was sent, by all operators. */
  keys: SentKey[];
  over: () => boolean;
}

/** Lists, chooses and sends until it is over; what was not answered for certain is asked for or sent again, under its key. */
export async function operate(operator: Operator): Promise<void> {
  const { api, outbox, hand, operations, over } = operator;
  while (!over()) {
    const operation = hand.pick(Object.keys(operations) as [string, ...string[]]);
    const states = operations[operation] ?? [];
    const state = hand.chance(0.8) ? states[0] : states[hand.int(0, states.length - 1)];
    const limit = operator.bulk ? INTERVENTION_EVENTS_MAX : 60;
    const order = hand.chance(0.5) ? 'oldest' : 'newest';
    const { value } = await api.get<EventPage<VersionedEvent>>(`outboxes/${outbox}/events`, {
      state: state ?? 'dead',
      order,
      limit: String(limit),
    });
    if (value === null || value.events.length === 0) {
      await sleep(50);
      continue;
    }
    const start = operator.bulk ? 0 : hand.int(0, value.events.length - 1);
    const chosen = value.events.slice(start, operator.bulk ? undefined : start + hand.int(1, 5));
    const events = chosen.map(({ id, version }) => ({ id, version }));
    await decide(operator, { operation, events, reason: 'a run of faults' });
  }
}

/** One decision: sent until it is answered, or given up. */
async function decide(
  { api, outbox, hand, keys }: Operator,
  body: { operation: string; events: SentKey['events']; reason: string },
): Promise<void> {
  const sent: SentKey = { key: hand.uuid(), events: body.events, tries: [], asked: [], finals: [] };
  keys.push(sent);
  const send = async (): Promise<Told> => {
    const one = await told(api.post(`outboxes/${outbox}/interventions`, sent.key, body));
    sent.tries.push(one);
    return one;
  };
  // Now and then somebody clicks twice.
  const [first] = await Promise.all([send(), ...(hand.chance(0.15) ? [send()] : [])]);
  for (let last = first, more = hand.int(0, 4); more > 0 && !isFinal(last); more -= 1) {
    await sleep(hand.int(50, 800));
    if (hand.chance(0.4)) {
      last = await askByKey(api, outbox, sent.key);
      sent.asked.push(last);
    } else last = await send();
  }
}

/** Asks for every key, and for each answer that had said `unknown`, until all is said or the time has come. */
export async function askInTheEnd(api: Api, outbox: string, keys: SentKey[], until: number): Promise<void> {
  const ask = async (question: () => Promise<Told>): Promise<Told> => {
    for (;;) {
      const one = await question();
      if (isDefinite(one) || one.status === 404 || Date.now() > until) return one;
      await sleep(300);
    }
  };
  const waiting = keys.flatMap((sent) => {
    const unknown = new Set(
      [...sent.tries, ...sent.asked].flatMap(({ answer }) => (answer?.outcome === 'unknown' ? [answer.interventionId] : [])),
    );
    return [() => askByKey(api, outbox, sent.key), ...[...unknown].map((id) => () => askById(api, id))].map((question, at) => async () => {
      sent.finals[at] = await ask(question);
    });
  });
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next();
    }),
  );
}

/** The audit of an outbox from a time on. */
export async function auditOf(api: Api, outbox: string, from: string): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: AuditPage | null = (await api.get<AuditPage>('audit', { outbox, from, limit: '200', ...(cursor === '' ? {} : { cursor }) }))
      .value;
    if (page === null) throw new Error('the audit cannot be read');
    entries.push(...page.entries);
    cursor = page.nextCursor;
  }
  return entries;
}

/** Every event of an outbox, as its lists show it. */
export async function listed(api: Api, outbox: string): Promise<{ id: string; state: string }[]> {
  const events: { id: string; state: string }[] = [];
  for (const state of STATES)
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: EventPage | null = (
        await api.get<EventPage>(`outboxes/${outbox}/events`, { state, limit: '200', ...(cursor === '' ? {} : { cursor }) })
      ).value;
      if (page === null) throw new Error(`the list of ${outbox} cannot be read`);
      events.push(...page.events.map(({ id, state: shown }) => ({ id, state: shown })));
      cursor = page.nextCursor;
    }
  return events;
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
