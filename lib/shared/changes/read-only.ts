import type { UnreadReason } from '../figures/measured';

/** Why an outbox cannot be changed from the console; texts under `readOnly.<code>`. */
export type ReadOnlyReason =
  | 'no_operator_url'
  | 'not_installed'
  | 'reinstall_needed'
  | 'companions_out_of_date'
  | 'mapping_not_proven'
  | 'proof_failed'
  | 'mapping_changed'
  | 'table_changed'
  | 'table_differs'
  | 'changes_off'
  | 'proof_unknown'
  | 'not_transactional'
  | 'statement_binlog'
  | 'no_primary_key'
  | 'no_grant'
  | UnreadReason;

/** Reasons that proving the mapping explains and may remove. */
// prettier-ignore
export const PROOF_REASONS: readonly ReadOnlyReason[] = [
  'mapping_not_proven', 'proof_failed', 'mapping_changed', 'table_changed', 'table_differs', 'changes_off',
];
