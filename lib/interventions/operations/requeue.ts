import { ruleOperation } from '../rule-operation';

/** Start over: attempts zero, lease and error cleared, out of the dead-letter table if there is one. Each shape says in its rules what that writes. */
export const requeueOperation = ruleOperation('requeue');
