import type { DeadLetters } from '@/lib/shared/model';

/** What the dead-letter screens poll: one outbox's, or every outbox's; each says for itself when it cannot be read. */
export interface DeadLettersSnapshot {
  asOf: string | null;
  outboxes: DeadLetters[];
}
