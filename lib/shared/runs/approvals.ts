/** Why a second person is asked: which limits of the policy are passed. `always`: the rule has none. */
export const APPROVAL_LIMITS = ['rows', 'amount', 'notIdempotent', 'always'] as const;
export type ApprovalLimit = (typeof APPROVAL_LIMITS)[number];

/** How long a second person has to answer; and, once approved, anybody to start it. */
export const APPROVAL_HOURS = 4;
export const APPROVED_MINUTES = 15;
