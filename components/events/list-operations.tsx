'use client';

import type { OutboxInfo } from '@/lib/shared/model';
import type { InterventionActions } from '../interventions/actions';
import { InterventionHost } from '../interventions/use-intervention';
import { SelectionBar } from './selection-bar';
import type { ListOperationsState } from './use-list-operations';

interface ListOperationsProps {
  state: ListOperationsState;
  /** The outbox the ticked rows are of; undefined while none are. */
  outbox: OutboxInfo | undefined;
  mayOperate: boolean;
  actions: InterventionActions;
  /** Reads the list anew. */
  refresh: () => Promise<unknown>;
}

/** The bar that rises with the ticks, and the dialog that acts on them. */
export function ListOperations({ state, outbox, mayOperate, actions, refresh }: ListOperationsProps) {
  const { ticks, intervention, ticking, settle } = state;
  return (
    <>
      {ticking && outbox !== undefined && (
        <SelectionBar
          outbox={outbox}
          events={ticks.events}
          full={ticks.full}
          mayOperate={mayOperate}
          onOperate={(operation) =>
            intervention.open(
              outbox,
              operation,
              ticks.events.map(({ id, version }) => ({ id, version })),
            )
          }
          onClear={ticks.clear}
        />
      )}
      <InterventionHost
        intervention={intervention}
        actions={actions}
        onSettled={(result) => {
          settle(result.changed.length);
          void refresh();
        }}
      />
    </>
  );
}
