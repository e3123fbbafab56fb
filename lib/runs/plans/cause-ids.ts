import { createHash } from 'node:crypto';
import { causeText, errorTemplate } from '@/lib/shared/lists/cause';
import type { Cause } from '@/lib/shared/model';

/** Of the rules of `errorTemplate`. */
const RULES = 1;

/** Names causes, each text of an error once: thousands of events share a few. */
export function causeIds(): (cause: Cause) => string {
  const known = new Map<string, string>();
  return ({ type, error }) => {
    const key = JSON.stringify([type, error === null ? null : causeText(error)]);
    const id = known.get(key) ?? hashed([RULES, type, error === null ? null : errorTemplate(error)]);
    if (known.size < 10_000) known.set(key, id);
    return id;
  };
}

const hashed = (told: unknown): string => createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 16);
