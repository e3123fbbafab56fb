/** How long a test waits for what is to come, in milliseconds: ends what hangs, and is no measure of anything on a busy machine. */
export const PATIENCE_MS = 300_000;
