import type { UnavailableReason } from '@/lib/shared/measured';
import type { Reading } from './reading';

/** Why nothing can be said about when events were published; null when all of the window's were read with their time. */
export function publishedTimes({ traits, reach }: Pick<Reading, 'traits' | 'reach'>): UnavailableReason | null {
  if (!traits.publishedAt) return traits.publishedState ? 'needs_sampling' : 'no_published_at';
  return reach.published === 'cut' ? 'too_many_rows' : null;
}
