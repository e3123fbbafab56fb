import { AsyncResource } from 'node:async_hooks';

/** On globalThis: Next bundles this module several times for one process, and some of them are first needed by a request. */
const KEY = Symbol.for('outbox-console.outside-requests');
const holder = globalThis as { [KEY]?: AsyncResource };
const outside = (holder[KEY] ??= new AsyncResource('outside requests'));

/** Begins what outlives the request that asks for it: a promise, timer or connection keeps the request it was made in alive. */
export const outsideRequests = <T>(work: () => T): T => outside.runInAsyncScope(work);
