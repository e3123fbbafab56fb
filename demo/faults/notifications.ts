import type { FaultScript } from './script';

/** How long the relay had been gone when the demo began, in milliseconds: its history ends there. */
export const STOPPED_FOR_MS = 6 * 60_000;

/** The relay has stopped and nobody has started it again, so there is nothing to do but let the service go on writing. */
export const notificationsFaults: FaultScript = {};
