/** What both structures of Spring Modulith's event publication registry have in common. */
import type { ShapeInput } from '../../shape';

export const MODULITH_COLUMNS = {
  id: 'id',
  type: 'event_type',
  topic: 'listener_id',
  createdAt: 'publication_date',
  publishedAt: 'completion_date',
  payload: 'serialized_event',
} satisfies ShapeInput['columns'];

/** Listeners run in the application after its commit; no statement makes one run. */
export const MODULITH_REFUSED = {
  retry: { refuse: 'app_must_resubmit' },
  requeue: { refuse: 'app_must_resubmit' },
} satisfies ShapeInput['operations'];
