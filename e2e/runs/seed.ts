/** What a seed gives: a table, its events, what its relay makes of them, what people do, and what breaks. */
import { createRandom, type Random } from '@/demo/random';
import { FAULTS, type Fault } from './faults';
import { KINDS, type Kind } from './kinds';

/** A plan that nobody may start: never answered, refused, answered too late, or changed after it was approved. */
export type Decoy = 'unanswered' | 'refused' | 'expired' | 'other events' | 'other hash';
const DECOYS: readonly [Decoy, ...Decoy[]] = ['unanswered', 'refused', 'expired', 'other events', 'other hash'];

export interface Seed {
  name: string;
  number: number;
  hand: Random;
  kind: Kind;
  operation: string;
  count: number;
  /** Nobody but the run and its relay changes anything: then it ends as if nothing had broken. */
  quiet: boolean;
  faults: Fault[];
  decoy: Decoy | null;
  /** Somebody cancels it so many milliseconds after its start; or pauses it again and again. */
  cancelAfterMs: number | null;
  pauses: boolean;
}

/** In quiet seeds the process that carries the run out is killed or stopped so often, if the run lasts as long: ten of them make fifty moments. */
const KILLS = 7;
/** Runs that send events again are the harder ones. */
const OFTEN: readonly string[] = ['escrow-status', 'published-at', 'listen-notify'];

export function drawSeed(text: string, number: number): Seed {
  const hand = createRandom(`${String(number)} of the runs of ${text}`);
  const quiet = number % 5 === 2;
  const engine = Math.floor(number / 2) % 4 === 3 ? 'mysql' : 'postgres';
  // An archive is over after two batches, before much can happen to it.
  const fits = ({ contender, runs }: Kind): boolean => contender.engine === engine && !(quiet && Object.keys(runs)[0] === 'archive');
  const fitting = KINDS.filter(fits).flatMap((kind) => (OFTEN.includes(kind.contender.key) ? [kind, kind, kind] : [kind]));
  const kind = hand.pick(fitting as [Kind, ...Kind[]]);
  const [first = '', ...others] = Object.keys(kind.runs);
  const operation = others.length > 0 && !quiet && hand.chance(0.25) ? (others[0] ?? first) : first;
  const some = FAULTS.filter((fault) => fault.engines.includes(engine) && (!quiet || fault.kills === true));
  const faults = Array.from({ length: quiet ? KILLS : hand.int(2, 4) }, () => hand.pick(some as [Fault, ...Fault[]]));
  return {
    ...{ name: `${text}-${String(number)}`, number, hand, kind, operation, quiet, faults },
    count: hand.int(80, 150),
    decoy: hand.chance(0.6) ? hand.pick(DECOYS) : null,
    cancelAfterMs: !quiet && hand.chance(0.12) ? hand.int(200, 3_000) : null,
    pauses: !quiet && hand.chance(0.3),
  };
}

export const describeSeed = ({ number, kind: { contender }, operation, quiet, faults }: Seed): string =>
  `seed ${String(number)}: ${operation} on ${contender.key} on ${contender.engine}${quiet ? ', undisturbed by people' : ''}; ${faults.map(({ key }) => key).join(', ')}`;
