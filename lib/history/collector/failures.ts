import { DatabaseFailure } from '@/lib/database/failure';
import { Problem } from '@/lib/shared/problems';

/** The observed database refused, was slow or was away; anything else is the store's failure, or ours. */
export const isSourceFailure = (error: unknown): boolean => error instanceof DatabaseFailure || error instanceof Problem;

/** A statement ran into its timeout, or waited for a lock: looking costs too much at the moment. */
export function isTimeout(error: unknown): boolean {
  const failure = error instanceof Problem ? error.cause : error;
  return failure instanceof DatabaseFailure && (failure.code === 'timeout' || failure.code === 'locked');
}
