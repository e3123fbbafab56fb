import { ruleOperation } from '../rule-operation';

/** A stuck processing event back to pending; it may already be out. Each shape says in its rules what that writes. */
export const releaseOperation = ruleOperation('release');
