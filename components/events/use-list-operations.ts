import { useEffect, useReducer } from 'react';
import { useIntervention, type Intervention } from '../interventions/use-intervention';
import { useTicks, type Ticks } from './use-ticks';

export interface ListOperationsState {
  ticks: Ticks;
  intervention: Intervention;
  ticking: boolean;
  /** What somebody is about to act on must not move under their hand. */
  paused: boolean;
  /** Rises with every intervention of this list's own. */
  round: number;
  /** An intervention was settled: `changed` rows are no longer what was ticked. */
  settle: (changed: number) => void;
}

/** Ticks of a list and the dialog that acts on them; `ListOperations` shows both. */
export function useListOperations(): ListOperationsState {
  const ticks = useTicks();
  const intervention = useIntervention();
  const [round, nextRound] = useReducer((before: number) => before + 1, 0);
  const ticking = ticks.events.length > 0;
  const { prepare } = intervention;
  useEffect(() => {
    if (ticking) prepare();
  }, [ticking, prepare]);
  return {
    ticks,
    intervention,
    ticking,
    paused: ticking || intervention.opening !== null,
    round,
    settle: (changed) => {
      if (changed > 0) ticks.clear();
      nextRound();
    },
  };
}
