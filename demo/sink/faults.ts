import type { FaultRule, Message } from './protocol';

/** What the sink is to do with one message. */
export interface Verdict {
  mode: 'refuse' | 'timeout' | 'error';
  message: string;
  delayMs: number;
}

export interface Faults {
  set(rule: FaultRule): void;
  /** Null when the message is to be accepted. Counts as one try of the event. */
  judge(message: Message): Verdict | null;
}

interface ActiveRule {
  mode: Verdict['mode'];
  rule: FaultRule;
  until: number;
  tries: Map<string, number>;
}

const DEFAULT_MESSAGE = { refuse: 'connection refused', timeout: 'no answer', error: 'internal error' };

export function createFaults(now: () => number = Date.now): Faults {
  const byOutbox = new Map<string, Map<string, ActiveRule>>();
  let requests = 0;

  const rulesOf = (outbox: string) => {
    const found = byOutbox.get(outbox) ?? new Map<string, ActiveRule>();
    byOutbox.set(outbox, found);
    return found;
  };
  const keyOf = ({ type, eventId }: { type?: string; eventId?: string }) =>
    eventId !== undefined ? `event ${eventId}` : type !== undefined ? `type ${type}` : 'all';

  return {
    set(rule) {
      const rules = rulesOf(rule.outbox);
      if (rule.mode !== 'none') {
        const until = rule.forMs === undefined ? Number.POSITIVE_INFINITY : now() + rule.forMs;
        rules.set(keyOf(rule), { mode: rule.mode, rule, until, tries: new Map() });
      } else {
        for (const [key, active] of rules) if (isNamedBy(rule, active.rule)) rules.delete(key);
      }
    },
    judge(message) {
      requests += 1;
      const rules = rulesOf(message.outbox);
      for (const key of [`event ${message.eventId}`, `type ${message.type}`, 'all']) {
        const active = rules.get(key);
        if (active === undefined) continue;
        if (now() >= active.until) {
          rules.delete(key);
          continue;
        }
        const { rule, tries } = active;
        const failed = tries.get(message.eventId) ?? 0;
        if (rule.times !== undefined && failed >= rule.times) continue;
        if (rule.times !== undefined) tries.set(message.eventId, failed + 1);
        return {
          mode: active.mode,
          message: fill(rule.message ?? DEFAULT_MESSAGE[active.mode], message, requests),
          delayMs: rule.delayMs ?? 0,
        };
      }
      return null;
    },
  };
}

/** Without a type or an event every fault of the outbox is meant; a type also means the faults of its events. */
function isNamedBy(wish: FaultRule, rule: FaultRule): boolean {
  if (wish.eventId !== undefined) return rule.eventId === wish.eventId;
  return wish.type === undefined || rule.type === wish.type;
}

/** Real systems put ids and numbers into their errors; grouping by cause has to see through them. */
function fill(template: string, message: Message, request: number): string {
  return template
    .replaceAll('{eventId}', message.eventId)
    .replaceAll('{type}', message.type)
    .replaceAll('{request}', String(request))
    .replaceAll('{hex}', (Math.imul(request, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0'));
}
