/** How a column spells an instant. */
import { z } from 'zod';

/**
 * `auto`: by its type, zone-less times read in the zone of `parameters.timeZone`. `utc`: zone-less and UTC whatever that
 * zone is. `epoch_ms`, `epoch_s`: a number since 1970. `iso`: ISO 8601 text. For instance
 * `createdAt: { column: created_at, time: epoch_ms }`.
 */
export const TIME_ENCODINGS = ['auto', 'utc', 'epoch_ms', 'epoch_s', 'iso'] as const;
export const timeEncodingSchema = z.enum(TIME_ENCODINGS).describe('How the column spells a time; by its type when left out');
