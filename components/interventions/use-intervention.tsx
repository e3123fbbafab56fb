'use client';

import { lazy, Suspense, useCallback, useMemo, useState, type ReactNode } from 'react';
import type { InterventionResult } from '@/lib/shared/model';
import type { InterventionActions, SeenEvent, Subject } from './actions';

const loadDialog = () => import('./intervention-dialog');
const InterventionDialog = lazy(async () => ({ default: (await loadDialog()).InterventionDialog }));

/** One opening of the dialog: its key makes however many clicks one intervention. */
export interface Opening {
  subject: Subject;
  operation: string;
  events: SeenEvent[];
  key: string;
}

export interface Intervention {
  /** Opens the confirm dialog for these events. */
  open: (subject: Subject, operation: string, events: SeenEvent[]) => void;
  /** Fetches the dialog's script before it is needed, when rows are ticked. */
  prepare: () => void;
  isOpen: boolean;
  /** Put this anywhere in the screen. */
  dialog: ReactNode;
}

/** The confirm dialog and result panel for a screen; `onSettled` hears of every intervention whose outcome is known. */
export function useIntervention(actions: InterventionActions, onSettled: (result: InterventionResult) => void): Intervention {
  const [opening, setOpening] = useState<Opening | null>(null);
  const open = useCallback((subject: Subject, operation: string, events: SeenEvent[]) => {
    setOpening({ subject, operation, events, key: crypto.randomUUID() });
  }, []);
  const prepare = useCallback(() => void loadDialog(), []);
  const close = useCallback(() => setOpening(null), []);

  return useMemo(
    () => ({
      open,
      prepare,
      isOpen: opening !== null,
      dialog: opening && (
        <Suspense fallback={null}>
          <InterventionDialog key={opening.key} opening={opening} actions={actions} onClose={close} onSettled={onSettled} onOpen={open} />
        </Suspense>
      ),
    }),
    [opening, actions, open, prepare, close, onSettled],
  );
}
