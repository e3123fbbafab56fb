/** Polling interval of a screen. The limits below follow from it and hold for 2 to 5.5 seconds; all in milliseconds. */
export const POLL_INTERVAL_MS = 5_000;

/** Longest wait for a reading, so that its answer arrives before the next poll. */
export const READING_WAIT_MS = POLL_INTERVAL_MS - 200;
/** Its statement in the observed database: below the reader's own limit, and figures arrive at most an interval old. */
export const READING_STATEMENT_MS = POLL_INTERVAL_MS - 500;
/** If the store computes the figures, its statement; the rest of the time is for fetching the rows. */
export const COMPUTE_STATEMENT_MS = 1_300;
export const FETCH_STATEMENT_MS = READING_STATEMENT_MS - COMPUTE_STATEMENT_MS;
/** How long a slow or failed reading is served to all, from its start: below an interval. */
export const SHARED_SLOW_MS = POLL_INTERVAL_MS - 1_000;
/** How long an event's page that polls may share the reading another page began since its last poll. */
export const SHARED_EVENT_MS = POLL_INTERVAL_MS - 500;
