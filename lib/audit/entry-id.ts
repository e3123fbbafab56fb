import { createHash } from 'node:crypto';

/** A UUID (version 8: made by us) of the intervention and the event's position in it: the same however often it is asked for. */
export function entryId(intervention: string, position: number): string {
  const hex = createHash('sha256').update(`${intervention}/${position}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
