/** How long an intervention may take: one limit for the console that runs it and the client that waits for it. */

/** From its arrival at a console to its commit, in milliseconds: later attempts are refused. */
export const INTERVENTION_MS = 30_000;

/** Allowance for queues on the way to a console, such as a load balancer's. */
const ON_ITS_WAY_MS = 15_000;

/** This long after sending, in milliseconds, a key without a record has changed nothing and never will. */
export const NO_RECORD_AFTER_MS = INTERVENTION_MS + ON_ITS_WAY_MS;
