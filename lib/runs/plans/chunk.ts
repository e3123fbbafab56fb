/** The events of a plan as the store keeps them: 1,000 together, deflated. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { digestOf } from '@/lib/database/digest';

export interface PlannedEvent {
  id: string;
  version: string;
  amount: string | null;
  currency: string | null;
  /** Equal for events of one aggregate; null without one. */
  aggregate: string | null;
}

/** Of the aggregate's type and id; of 250,000 aggregates about seven share one with another, which only makes events wait for each other. */
export const aggregateHash = (type: string | null, id: string | null): string | null =>
  id === null ? null : digestOf([type, id]).slice(0, 8);

/** What is hashed of them: their text before it is deflated. */
export const chunkBytes = (events: readonly PlannedEvent[]): Buffer =>
  Buffer.from(JSON.stringify(events.map(({ id, version, amount, currency, aggregate }) => [id, version, amount, currency, aggregate])));

export const packChunk = (events: readonly PlannedEvent[]): Buffer => deflateRawSync(chunkBytes(events), { level: 9 });

/** More than any chunk holds: what is larger is not ours. */
const CHUNK_BYTES_MAX = 32 * 1_048_576;

export function unpackChunk(data: Buffer): PlannedEvent[] {
  const text = inflateRawSync(data, { maxOutputLength: CHUNK_BYTES_MAX }).toString();
  const rows = JSON.parse(text) as [string, string, string | null, string | null, string | null][];
  return rows.map(([id, version, amount, currency, aggregate]) => ({ id, version, amount, currency, aggregate }));
}
