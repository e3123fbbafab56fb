import { defineShape, exact, is, names } from '../define';
import { MODULITH_COLUMNS, MODULITH_REFUSED } from './parts/modulith';

const NO_STATUS = { column: 'status', isNull: true } as const;
/** A listener may have begun at the last resubmission, however old the event. */
const NOT_RESUBMITTED_LATELY = {
  any: [
    { column: 'last_resubmission_date', isNull: true },
    { column: 'last_resubmission_date', olderThan: { parameter: 'stuckAfter' } },
  ],
};

/** Spring Modulith's event publication registry with states; rows from before the migration have none. */
export const springModulithV2 = defineShape({
  key: 'spring-modulith-v2',
  label: 'Spring Modulith event publications (v2)',
  origin: 'Spring Modulith (Java)',
  engines: ['postgres', 'mysql'],
  table: 'event_publication',
  match: { names: ['event_publication', 'event_publication_archive'] },
  kind: 'status',
  columns: { ...MODULITH_COLUMNS, attemptedAt: 'last_resubmission_date', attempts: 'completion_attempts' },
  states: [
    { state: 'published', label: 'COMPLETED', when: is('status', 'COMPLETED') },
    { state: 'published', when: { all: [NO_STATUS, { column: 'completion_date', isNull: false }] } },
    { state: 'processing', label: 'PROCESSING', when: is('status', 'PROCESSING') },
    { state: 'retrying', label: 'FAILED', when: is('status', 'FAILED') },
    { state: 'retrying', when: { all: [NO_STATUS, { column: 'completion_date', isNull: true }] } },
    // Stored and waiting, whatever the word says.
    { state: 'pending', label: 'PUBLISHED', when: is('status', 'PUBLISHED') },
    { state: 'pending', label: 'RESUBMITTED', when: is('status', 'RESUBMITTED') },
  ],
  parameters: { stuckAfter: 3600 },
  operations: {
    ...MODULITH_REFUSED,
    // What the library's own staleness monitor writes, where it is switched on.
    release: [
      exact(
        ['processing', 'pending'],
        { status: 'FAILED' },
        {
          olderThanStuckAfter: 'publication_date',
          guard: NOT_RESUBMITTED_LATELY,
          warnings: ['may_already_be_out', 'app_must_resubmit'],
          basis: 'mirrors_library',
        },
      ),
    ],
  },
  noArchive: 'library_cleans_up',
  cautions: { processing: ['may_already_be_out'] },
  payload: { encoding: 'json' },
  detect: {
    mustHave: names(`
      id listener_id event_type serialized_event publication_date completion_date status completion_attempts
      last_resubmission_date
    `),
    signature: ['serialized_event', 'listener_id'],
    companions: ['event_publication_archive'],
    caseless: true,
  },
  facts: {
    source: 'spring-projects/spring-modulith@fc0a547c',
    verified: 'ran',
    warnings: ['published_means_waiting', 'row_is_one_listener'],
  },
});
