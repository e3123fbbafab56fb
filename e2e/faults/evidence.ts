/** What is known of a fault run: what everybody asked, what they were told, and what the databases say happened. */
import type { TableEvidence } from '../races/judge';
import type { AuditEntry, InterventionResult } from '@/lib/shared/model';

/** One request about a key. */
export interface Told {
  /** Milliseconds since the epoch. */
  sent: number;
  ended: number;
  /** null: no answer came, whatever broke. */
  status: number | null;
  /** The answer of a 200. */
  answer: InterventionResult | null;
}

/** A key somebody has sent. */
export interface SentKey {
  key: string;
  /** What it was sent for. */
  events: { id: string; version: string }[];
  /** Times the intervention was sent with it. */
  tries: Told[];
  /** Questions meanwhile what has become of it. */
  asked: Told[];
  /** The same when all was over: by the key, then by the id of each answer that had said `unknown`. */
  finals: Told[];
}

/** A record as the observed database has it. */
export interface Recorded {
  id: string;
  key: string;
  outcome: string;
  lines: { event_id: string; code: string | null }[];
}

export interface FaultEvidence extends TableEvidence {
  keys: SentKey[];
  recorded: Recorded[];
  audit: Pick<AuditEntry, 'interventionId' | 'eventId' | 'code'>[];
  /** Every event of the outbox as its lists show it. */
  listed: { id: string; state: string }[];
}
