import { defineShape, names } from '../define';
import { MODULITH_COLUMNS, MODULITH_REFUSED } from './parts/modulith';

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
    mustHave: names('id listener_id event_type serialized_event publication_date completion_date'),
    mustNotHave: ['completion_attempts'],
    signature: ['serialized_event', 'listener_id'],
    companions: ['event_publication_archive'],
    caseless: true,
  },
  facts: { source: 'spring-projects/spring-modulith@fc0a547c', verified: 'source', warnings: ['row_is_one_listener'] },
});
