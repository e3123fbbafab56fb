import { RULE_OPERATIONS } from '@/lib/shared/changes/fates';
import type { Operation } from './operation';
import { archiveOperation } from './operations/archive';
import { restoreOperation } from './operations/restore';
import { ruleOperation } from './operations/rules';

/** All operations, by key. For RULE_OPERATIONS, each shape says what is written. */
export const OPERATIONS: readonly Operation[] = [archiveOperation, restoreOperation, ...RULE_OPERATIONS.map(ruleOperation)].sort((a, b) =>
  a.key < b.key ? -1 : 1,
);
