import type { DatabaseFailure } from '@/lib/database/failure';

const LONGEST = 300;

/** What the server said, in one line: for an administrator, about a row that was made for the proof. */
export function said(failure: DatabaseFailure): string {
  const { cause } = failure;
  const message = cause instanceof Error ? cause.message : '';
  return message === '' ? failure.code : (message.split('\n')[0]?.slice(0, LONGEST) ?? failure.code);
}

/** The same about a real row: what names no value of it. */
export function saidOfReal(failure: DatabaseFailure): string {
  const { cause } = failure;
  const named = typeof cause === 'object' && cause !== null && 'constraint' in cause ? cause.constraint : undefined;
  return typeof named === 'string' ? `${failure.code}: ${named}` : failure.code;
}
