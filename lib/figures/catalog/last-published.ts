import type { Metric } from '../metric';
import { textOf } from '@/lib/live/reading';
import { iso } from '@/lib/outbox/scan/sql-terms';

/** When something was last published, whatever the window. */
export const lastPublishedMetric: Metric = {
  id: 'last-published',
  unit: 'time',
  help: 'The newest time of publishing in the table.',
  figures: ({ lastPublished }) => ({ at: iso(lastPublished) }),
  summary: ({ reading }) => ({ lastPublishedAt: textOf(reading, 'last-published', 'at') }),
};
