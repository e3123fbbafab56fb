import { AsyncResource } from 'node:async_hooks';

/** On globalThis: Next bundles this module several times for one process, and some copies first load during a request. */
const KEY = Symbol.for('outbox-console.outside-requests');
const holder = globalThis as { [KEY]?: AsyncResource };
const outside = (holder[KEY] ??= new AsyncResource('outside requests'));

/** Starts work that outlives the request: a promise, timer or connection would keep the request it was created in alive. */
export const outsideRequests = <T>(work: () => T): T => outside.runInAsyncScope(work);
