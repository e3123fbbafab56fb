import { ruleOperation } from '../rule-operation';

/** Exactly one more attempt, due now. Each shape says in its rules what that writes. */
export const retryOperation = ruleOperation('retry');
