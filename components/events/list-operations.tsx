'use client';

import type { OutboxInfo } from '@/lib/shared/model';
import type { InterventionActions } from '../interventions/actions';
import { InterventionHost } from '../interventions/use-intervention';
import { SelectionBar, TakingBar } from './selection-bar';
import type { ListOperationsState } from './use-list-operations';
import type { Taking } from './use-whole-list';

interface ListOperationsProps {
  state: ListOperationsState;
  /** The outbox the ticked rows are of; undefined while none are. */
  outbox: OutboxInfo | undefined;
  mayOperate: boolean;
  actions: InterventionActions;
  /** Ticking the list as a whole, where it can be: how far that is, and the ways to begin and to end it. */
  whole?: { taking: Taking | null; begin: () => void; cancel: () => void };
  /** Reads the list anew. */
  refresh: () => Promise<unknown>;
}

/** The bar that rises with the ticks, and the dialog that acts on them. */
export function ListOperations({ state, outbox, mayOperate, actions, whole, refresh }: ListOperationsProps) {
  const { ticks, intervention, ticking, settle } = state;
  const taking = whole?.taking ?? null;
  return (
    <>
      {taking !== null && whole !== undefined && <TakingBar taking={taking} onCancel={whole.cancel} />}
      {taking === null && ticking && outbox !== undefined && (
        <SelectionBar
          outbox={outbox}
          events={ticks.events}
          extent={ticks.extent}
          full={ticks.full}
          mayOperate={mayOperate}
          onOperate={(operation) =>
            intervention.open(
              outbox,
              operation,
              ticks.events.map(({ id, version }) => ({ id, version })),
            )
          }
          onWhole={whole?.begin ?? null}
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
