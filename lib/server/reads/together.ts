import 'server-only';
import type { Outbox } from '@/lib/outbox/outbox';
import { outsideRequests } from '@/lib/shared/async/outside-requests';
import { perObject } from '@/lib/shared/kept';

/** `next` begins when `now` has ended; null if no caller waits for it. */
interface Going {
  now: Promise<unknown>;
  next: Promise<unknown> | null;
}

/** Dropped with the outbox's binding: another binding reads another table. */
const goingsOf = perObject<Outbox, Map<string, Going>>(() => new Map());

/** One reading for all who ask the same before it begins: one runs, one waits. `question`: all that the result depends on, and who asks. */
export function together<T>(outbox: Outbox, question: readonly unknown[], read: () => Promise<T>): Promise<T> {
  const goings = goingsOf(outbox);
  const key = JSON.stringify(question);
  const going = goings.get(key);
  if (going === undefined) return begin(goings, key, read);
  going.next ??= going.now.catch(() => undefined).then(() => begin(goings, key, read));
  return going.next as Promise<T>;
}

async function begin<T>(goings: Map<string, Going>, key: string, read: () => Promise<T>): Promise<T> {
  const going: Going = { now: outsideRequests(read), next: null };
  goings.set(key, going);
  try {
    return (await going.now) as T;
  } finally {
    if (going.next === null) goings.delete(key);
  }
}
