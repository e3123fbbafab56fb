import { AsyncResource } from 'node:async_hooks';

/** On globalThis: Next bundles this module several times for one process, and some of them are first needed by a request. */
const KEY = Symbol.for('outbox-console.outside-requests');
const holder = globalThis as { [KEY]?: AsyncResource };
const outside = (holder[KEY] ??= new AsyncResource('outside requests'));

/**
 * Begins what outlives the request that asks for it: a promise, a timer or a connection keeps the request it was made in, with all
 * that it was answered with, for as long as it is kept itself.
 */
export const outsideRequests = <T>(work: () => T): T => outside.runInAsyncScope(work);
