/** How long an intervention may take: the one figure that who carries it out and who waits for it go by. */

/** From when a console got it to its commit, in milliseconds: a try that is later than that refuses itself. */
export const INTERVENTION_MS = 30_000;

/** What may pass before a console gets it: in lines that nobody tells of, such as those of a balancer. */
const ON_ITS_WAY_MS = 15_000;

/** So long after it was sent, in milliseconds, a key of which there is no record has changed nothing and never will. */
export const NO_RECORD_AFTER_MS = INTERVENTION_MS + ON_ITS_WAY_MS;
