import type { Operation } from './operation';
import { archiveOperation } from './operations/archive';
import { restoreOperation } from './operations/restore';
import { ruleOperation } from './operations/rules';

/** Every operation. Of those that shapes spell out as rules, each shape says what is written. */
export const OPERATIONS: readonly Operation[] = [
  archiveOperation,
  /** A stuck processing event back to pending; it may already be out. */
  ruleOperation('release'),
  /** Start over: attempts zero, lease and error cleared, out of the dead-letter table if there is one. */
  ruleOperation('requeue'),
  restoreOperation,
  /** Exactly one more attempt, due now. */
  ruleOperation('retry'),
];
