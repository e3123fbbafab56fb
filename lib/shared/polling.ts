/** How often a screen asks. The limits below follow from it and hold between 2 and 5.5 seconds; all in milliseconds. */
export const POLL_INTERVAL_MS = 5_000;

/** What a reading may wait for altogether, so that its answer arrives before the next question. */
export const READING_WAIT_MS = POLL_INTERVAL_MS - 200;
/** Its statement in the observed database: below the reader's own limit, and figures are at most an interval old when they arrive. */
export const READING_STATEMENT_MS = POLL_INTERVAL_MS - 500;
/** Where the store computes, what it may take; the observed database has the rest of the statement's time for the rows. */
export const COMPUTE_STATEMENT_MS = 1_300;
export const FETCH_STATEMENT_MS = READING_STATEMENT_MS - COMPUTE_STATEMENT_MS;
/** How long a reading that was slow or failed serves all who ask: with the time it takes it stays below an interval. */
export const SHARED_SLOW_MS = POLL_INTERVAL_MS - 1_000;
/** An event's page asks every interval, and may get what another one was answered since it last did. */
export const SHARED_EVENT_MS = POLL_INTERVAL_MS - 500;
