import type { CollectionMethod } from '@/lib/shared/figures/collection';

/** Whether rows are counted by their own time of publishing, and not by what was seen of them. */
export const countsRows = (method: CollectionMethod): boolean => method === 'published_index' || method === 'scan';
