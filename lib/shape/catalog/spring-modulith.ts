/** Shared by both layouts of Spring Modulith's event publication registry. */
import { byWord, defineShape, is, names, byRunning, bySource, refused, takenBack } from '../define';
import type { ShapeInput } from '../shape';

const MODULITH = {
  origin: 'Spring Modulith (Java)',
  engines: ['postgres', 'mysql'],
  table: 'event_publication',
  match: { names: ['event_publication', 'event_publication_archive'] },
  columns: {
    id: 'id',
    type: 'event_type',
    topic: 'listener_id',
    createdAt: 'publication_date',
    publishedAt: 'completion_date',
    payload: 'serialized_event',
  },
  noArchive: 'library_cleans_up',
  payload: { encoding: 'json' },
} satisfies Partial<ShapeInput>;

/** Listeners run in the application after its commit; no SQL statement can run one. */
const MODULITH_REFUSED = refused({ retry: 'app_must_resubmit', requeue: 'app_must_resubmit' });

/** Spring Modulith's event publication registry without states: a row per event and listener, complete or not. */
export const springModulithV1 = defineShape({
  ...MODULITH,
  key: 'spring-modulith-v1',
  label: 'Spring Modulith event publications (v1)',
  kind: 'timestamp',
  states: [
    { state: 'published', label: 'completed', when: { column: 'completion_date', isNull: false } },
    { state: 'pending', label: 'incomplete', when: { column: 'completion_date', isNull: true } },
  ],
  operations: { ...MODULITH_REFUSED, release: { refuse: 'not_claimed' } },
  detect: {
    mustHave: names('id listener_id event_type serialized_event publication_date completion_date'),
    mustNotHave: ['completion_attempts'],
    signature: ['serialized_event', 'listener_id'],
    companions: ['event_publication_archive'],
  },
  facts: bySource('spring-projects/spring-modulith@fc0a547c', 'row_is_one_listener'),
});

const NO_STATUS = { column: 'status', isNull: true } as const;
const column = 'last_resubmission_date';
/** However old the event, its listener may have started at the last resubmission. */
const NOT_RESUBMITTED_LATELY = {
  any: [
    { column, isNull: true },
    { column, olderThan: { parameter: 'stuckAfter' } },
  ],
};
const RESUBMITTED_LATER = { guard: NOT_RESUBMITTED_LATELY, warnings: ['app_must_resubmit'], basis: 'mirrors_library' as const };

/** Spring Modulith's event publication registry with states; rows from before the migration have none. */
export const springModulithV2 = defineShape({
  ...MODULITH,
  key: 'spring-modulith-v2',
  label: 'Spring Modulith event publications (v2)',
  kind: 'status',
  columns: { ...MODULITH.columns, attemptedAt: 'last_resubmission_date', attempts: 'completion_attempts' },
  states: [
    { state: 'published', label: 'COMPLETED', when: is('status', 'COMPLETED') },
    { state: 'published', when: { all: [NO_STATUS, { column: 'completion_date', isNull: false }] } },
    ...byWord('status', { PROCESSING: 'processing', FAILED: 'retrying' }),
    { state: 'retrying', when: { all: [NO_STATUS, { column: 'completion_date', isNull: true }] } },
    // PUBLISHED and RESUBMITTED both mean stored and waiting.
    ...byWord('status', { PUBLISHED: 'pending', RESUBMITTED: 'pending' }),
  ],
  parameters: { stuckAfter: 3600 },
  operations: {
    ...MODULITH_REFUSED,
    // What the library's own staleness monitor writes, if enabled.
    release: [takenBack(['processing', 'pending'], 'publication_date', { status: 'FAILED' }, RESUBMITTED_LATER)],
  },
  cautions: { processing: ['may_already_be_out'] },
  detect: {
    mustHave: names(`
      id listener_id event_type serialized_event publication_date completion_date status completion_attempts
      last_resubmission_date
    `),
    signature: ['serialized_event', 'listener_id'],
    companions: ['event_publication_archive'],
  },
  facts: byRunning('spring-projects/spring-modulith@fc0a547c', 'published_means_waiting', 'row_is_one_listener'),
});
