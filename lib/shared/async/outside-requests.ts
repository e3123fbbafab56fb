import { AsyncResource } from 'node:async_hooks';
import { perProcess } from '../kept';

/** Some copies of this module first load during a request. */
const outside = perProcess('outside-requests', () => new AsyncResource('outside requests'));

/** Starts work that outlives the request: a promise, timer or connection would keep the request it was created in alive. */
export const outsideRequests = <T>(work: () => T): T => outside.runInAsyncScope(work);
