import { createHash } from 'node:crypto';

/** SHA-256, hex, of a value's JSON. */
export const digestOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');
