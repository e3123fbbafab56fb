import type { RightFor } from '@/lib/outbox/rights';

/** One statement of an installation and why it is there. */
export interface InstallStatement {
  why: string;
  sql: string;
  /** Something is better with it, and goes on without: whoever installs may not be allowed to. */
  optional?: true;
}

/** Which operation each right on a table is for, in the order of the grant. */
export function whyRights(table: string, rights: readonly RightFor[]): string {
  return `The operator on ${table}: ${rights.map(({ right, operations }) => `${right} for ${operations.join(', ')}`).join('; ')}`;
}
