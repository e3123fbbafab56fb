import type { Observer } from './observer';
import { attemptsObserver } from './observers/attempts';
import { statisticsObserver } from './observers/statistics';
import { deletesObserver, transitionsObserver } from './observers/transitions';

/** Everything that is learnt by looking, whatever the outbox: each observer says which it wants. */
export const OBSERVERS: readonly Observer[] = [attemptsObserver, transitionsObserver, deletesObserver, statisticsObserver];
