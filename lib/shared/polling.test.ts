import { expect, it } from 'vitest';
import {
  COMPUTE_STATEMENT_MS,
  FETCH_STATEMENT_MS,
  READING_STATEMENT_MS,
  READING_WAIT_MS,
  SHARED_EVENT_MS,
  SHARED_SLOW_MS,
} from './polling';

/** What `lib/database` allows a reader's statement. */
const READER_STATEMENT_MS = 5_000;

it('every limit that follows from the interval leaves time for the next', () => {
  expect(FETCH_STATEMENT_MS).toBeGreaterThanOrEqual(200);
  expect(FETCH_STATEMENT_MS + COMPUTE_STATEMENT_MS).toBe(READING_STATEMENT_MS);
  expect(READING_STATEMENT_MS).toBeLessThan(Math.min(READING_WAIT_MS, READER_STATEMENT_MS));
  expect(Math.min(SHARED_EVENT_MS, SHARED_SLOW_MS)).toBeGreaterThan(0);
});
