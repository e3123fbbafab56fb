import { sampleId, sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
import { MODULITH_COLUMNS, MODULITH_COMMON, MODULITH_REFUSED } from './parts/modulith';

/** Spring Modulith's event publication registry before it had states: a row per event and listener, complete or not. */
export const springModulithV1 = defineShape({
  key: 'spring-modulith-v1',
  label: 'Spring Modulith event publications (v1)',
  origin: 'Spring Modulith (Java)',
  engines: ['postgres', 'mysql'],
  table: 'event_publication',
  match: { names: ['event_publication', 'event_publication_archive'] },
  kind: 'timestamp',
  columns: MODULITH_COLUMNS,
  states: [
    { state: 'published', label: 'completed', when: { column: 'completion_date', isNull: false } },
    { state: 'pending', label: 'incomplete', when: { column: 'completion_date', isNull: true } },
  ],
  claim: { visible: false },
  operations: { ...MODULITH_REFUSED, release: { refuse: 'not_claimed' } },
  noArchive: 'library_cleans_up',
  payload: { encoding: 'json' },
  detect: {
    mustHave: ['id', 'listener_id', 'event_type', 'serialized_event', 'publication_date', 'completion_date'],
    mustNotHave: ['completion_attempts'],
    signature: ['serialized_event', 'listener_id'],
    companions: ['event_publication_archive'],
    caseless: true,
  },
  facts: { source: 'spring-projects/spring-modulith@fc0a547c', verified: 'source', warnings: ['row_is_one_listener'] },
  sample: {
    table: { mysql: 'EVENT_PUBLICATION' },
    ddl: {
      postgres: [
        `CREATE TABLE event_publication (
           id uuid PRIMARY KEY, listener_id text NOT NULL, event_type text NOT NULL, serialized_event text NOT NULL,
           publication_date timestamptz NOT NULL, completion_date timestamptz)`,
        'CREATE INDEX ON event_publication USING hash (serialized_event)',
        'CREATE INDEX ON event_publication (completion_date)',
      ],
      mysql: [
        `CREATE TABLE EVENT_PUBLICATION (
           ID varchar(36) PRIMARY KEY, LISTENER_ID varchar(512) NOT NULL, EVENT_TYPE varchar(512) NOT NULL, SERIALIZED_EVENT varchar(4000) NOT NULL,
           PUBLICATION_DATE timestamp(6) NOT NULL, COMPLETION_DATE timestamp(6) NULL, INDEX (COMPLETION_DATE))`,
      ],
    },
    rows: sampleRows(MODULITH_COMMON, [
      ['pending', { id: sampleId(1), publication_date: '2026-01-01 00:00:01' }],
      ['pending', { id: sampleId(2), publication_date: '2026-01-01 00:00:01', listener_id: 'com.shop.Stock.on(com.shop.OrderCompleted)' }],
      ['pending', { id: sampleId(3), publication_date: '2026-01-01 00:00:03', serialized_event: 'not json' }],
      ['published', { id: sampleId(4), publication_date: '2026-01-01 00:00:04', completion_date: '2026-01-01 00:00:05' }],
      ['published', { id: sampleId(5), publication_date: '2026-01-01 00:00:05', completion_date: '2026-01-01 00:00:05' }],
      ['published', { id: sampleId(6), publication_date: '2026-01-01 00:00:06', completion_date: '2026-01-02 00:00:06' }],
    ]),
  },
});
