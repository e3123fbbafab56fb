import { sampleId, sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
import { MODULITH_COLUMNS, MODULITH_COMMON, MODULITH_REFUSED } from './parts/modulith';

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
    { state: 'published', label: 'COMPLETED', when: { column: 'status', equals: 'COMPLETED' } },
    { state: 'published', when: { all: [NO_STATUS, { column: 'completion_date', isNull: false }] } },
    { state: 'processing', label: 'PROCESSING', when: { column: 'status', equals: 'PROCESSING' } },
    { state: 'retrying', label: 'FAILED', when: { column: 'status', equals: 'FAILED' } },
    { state: 'retrying', when: { all: [NO_STATUS, { column: 'completion_date', isNull: true }] } },
    // Stored and waiting, whatever the word says.
    { state: 'pending', label: 'PUBLISHED', when: { column: 'status', equals: 'PUBLISHED' } },
    { state: 'pending', label: 'RESUBMITTED', when: { column: 'status', equals: 'RESUBMITTED' } },
  ],
  parameters: { stuckAfter: 3600 },
  operations: {
    ...MODULITH_REFUSED,
    // What the library's own staleness monitor writes, where it is switched on.
    release: [
      {
        from: ['processing', 'pending'],
        version: 'exact',
        olderThanStuckAfter: 'publication_date',
        guard: NOT_RESUBMITTED_LATELY,
        set: { status: { value: 'FAILED' } },
        warnings: ['may_already_be_out', 'app_must_resubmit'],
        basis: 'mirrors_library',
      },
    ],
  },
  noArchive: 'library_cleans_up',
  cautions: { processing: ['may_already_be_out'] },
  payload: { encoding: 'json' },
  detect: {
    mustHave: [
      'id',
      'listener_id',
      'event_type',
      'serialized_event',
      'publication_date',
      'completion_date',
      'status',
      'completion_attempts',
      'last_resubmission_date',
    ],
    signature: ['serialized_event', 'listener_id'],
    companions: ['event_publication_archive'],
    caseless: true,
  },
  facts: {
    source: 'spring-projects/spring-modulith@fc0a547c',
    verified: 'ran',
    warnings: ['published_means_waiting', 'row_is_one_listener'],
  },
  sample: {
    table: { mysql: 'EVENT_PUBLICATION' },
    ddl: {
      postgres: [
        `CREATE TABLE event_publication (
           id uuid PRIMARY KEY, listener_id text NOT NULL, event_type text NOT NULL, serialized_event text NOT NULL,
           publication_date timestamptz NOT NULL, completion_date timestamptz, status text, completion_attempts int,
           last_resubmission_date timestamptz)`,
        'CREATE INDEX ON event_publication USING hash (serialized_event)',
        'CREATE INDEX ON event_publication (completion_date)',
      ],
      mysql: [
        `CREATE TABLE EVENT_PUBLICATION (
           ID varchar(36) PRIMARY KEY, LISTENER_ID varchar(512) NOT NULL, EVENT_TYPE varchar(512) NOT NULL, SERIALIZED_EVENT varchar(4000) NOT NULL,
           PUBLICATION_DATE timestamp(6) NOT NULL, COMPLETION_DATE timestamp(6) NULL, STATUS varchar(20), COMPLETION_ATTEMPTS int,
           LAST_RESUBMISSION_DATE timestamp(6) NULL, INDEX (COMPLETION_DATE))`,
      ],
    },
    rows: sampleRows(MODULITH_COMMON, [
      ['pending', { id: sampleId(1), publication_date: '2026-01-01 00:00:01', status: 'PUBLISHED', completion_attempts: 1 }],
      [
        'pending',
        {
          id: sampleId(2),
          publication_date: '2026-01-01 00:00:02',
          status: 'RESUBMITTED',
          completion_attempts: 3,
          last_resubmission_date: '2026-01-01 02:00:00',
        },
      ],
      ['processing', { id: sampleId(3), publication_date: '2026-01-01 00:00:03', status: 'PROCESSING', completion_attempts: 1 }],
      ['retrying', { id: sampleId(4), publication_date: '2026-01-01 00:00:04', status: 'FAILED', completion_attempts: 2 }],
      // From before the states: complete or not is all there is to know.
      ['retrying', { id: sampleId(5), publication_date: '2026-01-01 00:00:05', serialized_event: 'not json' }],
      ['published', { id: sampleId(6), publication_date: '2026-01-01 00:00:06', completion_date: '2026-01-01 00:00:07' }],
      [
        'published',
        {
          id: sampleId(7),
          publication_date: '2026-01-01 00:00:07',
          completion_date: '2026-01-01 00:00:08',
          status: 'COMPLETED',
          completion_attempts: 1,
        },
      ],
    ]),
  },
});
