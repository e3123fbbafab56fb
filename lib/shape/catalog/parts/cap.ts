/** What the tables of DotNetCore.CAP have in common: one layout for what is sent and for what was received. */
import type { ShapeInput } from '../../shape';

const SCHEDULED_LATER = { column: 'StatusName', in: ['Delayed', 'Queued'] };

/**
 * ExpiresAt has three meanings: when to send (Delayed, Queued), when to purge (Succeeded, Failed), nothing (Scheduled).
 * All times are the application's local time.
 */
export const CAP = {
  kind: 'status',
  columns: {
    id: 'Id',
    type: 'Name',
    topic: 'Name',
    createdAt: 'Added',
    publishedAt: { column: 'ExpiresAt', minus: { parameter: 'succeededKeptFor' }, when: { column: 'StatusName', equals: 'Succeeded' } },
    availableAt: { column: 'ExpiresAt', when: SCHEDULED_LATER },
    attempts: 'Retries',
    error: { column: 'Content', path: ['Headers', 'cap-exception'] },
    payload: 'Content',
    headers: { column: 'Content', path: ['Headers'] },
  },
  states: [
    {
      state: 'dead',
      label: 'Failed for good',
      when: {
        all: [
          { column: 'StatusName', equals: 'Failed' },
          { column: 'Retries', atLeast: { parameter: 'maxAttempts' } },
        ],
      },
    },
    { state: 'retrying', label: 'Failed', when: { column: 'StatusName', equals: 'Failed' } },
    { state: 'published', label: 'Succeeded', when: { column: 'StatusName', equals: 'Succeeded' } },
    { state: 'processing', label: 'Queued', when: { column: 'StatusName', equals: 'Queued' } },
    { state: 'pending', label: 'Delayed', when: { column: 'StatusName', equals: 'Delayed' } },
    { state: 'pending', label: 'Scheduled', when: { column: 'StatusName', equals: 'Scheduled' } },
  ],
  parameters: {
    maxAttempts: 50,
    extra: { succeededKeptFor: { default: 86_400, unit: 's', what: 'SucceedMessageExpiredAfter' } },
  },
  operations: {
    retry: [
      // The scheduler takes Delayed rows whose time has come; everything else it looks for by itself.
      {
        from: ['pending'],
        version: 'exact',
        guard: { column: 'StatusName', equals: 'Delayed' },
        set: { ExpiresAt: { now: true } },
        warnings: ['sends_ahead_of_schedule'],
        basis: 'mirrors_library',
      },
      { from: ['retrying'], refuse: 'relay_retries_at_once' },
      { from: ['dead'], refuse: 'retry_starts_over' },
    ],
    requeue: [
      {
        from: ['dead'],
        version: 'exact',
        // Still Failed: that is what the retry processor looks for. Without an expiry the collector leaves it alone meanwhile.
        set: { Retries: { value: 0 }, ExpiresAt: { value: null } },
        warnings: ['whole_row_is_rewritten', 'other_versions_are_left'],
        basis: 'inferred',
      },
    ],
    release: { refuse: 'relay_takes_back' },
  },
  archive: { from: ['dead', 'retrying'], warnings: ['relay_may_be_sending'] },
  payload: { encoding: 'json' },
} satisfies Partial<ShapeInput>;

export const CAP_WARNINGS = ['whole_row_is_rewritten', 'other_versions_are_left', 'local_time'];
