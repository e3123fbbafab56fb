import type { EngineKey } from '@/lib/shared/model';
import { SERVICE_ENGINES } from '../database/engine';
import { type Connection } from '../database/service';

/** Something that happened in a demo service and that others are to hear of. */
export interface StoryEvent {
  id: string;
  type: string;
  aggregateType: string;
  aggregateId: string;
  payload: Record<string, unknown>;
  traceId: string;
  dedupKey: string;
  /** What the service writes for itself in the same transaction. */
  business: { id: string; status: string; amount: string; currency: string };
}

/** An event of the days before the demo started, and what became of it. */
export interface PastEvent {
  event: StoryEvent;
  createdAt: Date;
  state: 'published' | 'dead' | 'pending';
  /** When it was published or died; null while it waits. */
  endedAt: Date | null;
  attempts: number;
  error: string | null;
}

/** One of the five tables of record, as the service that owns it writes it. */
export interface OutboxTable {
  engine: EngineKey;
  /** The outbox, its dead-letter table if it has one, and a small business table. */
  ddl: string[];
  /** Inserts one event, in the transaction `client` is in; answers the id it got. `createdAt` defaults to now. */
  insert(client: Connection, event: StoryEvent, createdAt?: Date): Promise<string>;
  /** Inserts many, oldest first, in a few statements. */
  insertPast(client: Connection, events: PastEvent[]): Promise<void>;
}

/** The service's own write and its event, in one transaction: what outboxes exist for. */
export async function record(
  client: Connection,
  business: string,
  table: OutboxTable,
  event: StoryEvent,
  createdAt?: Date,
): Promise<string> {
  await client.query('BEGIN');
  try {
    const { id, status, amount, currency } = event.business;
    await client.query(SERVICE_ENGINES[table.engine].putBusiness(business), [id, status, amount, currency]);
    const eventId = await table.insert(client, event, createdAt);
    await client.query('COMMIT');
    return eventId;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
