'use client';

import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react';
import type { SeenEvent } from '@/lib/shared/changes/batches';
import type { InterventionResult } from '@/lib/shared/model';
import type { InterventionActions, Opening, Subject } from './actions';

const loadDialog = () => import('./intervention-dialog');
const InterventionDialog = lazy(async () => ({ default: (await loadDialog()).InterventionDialog }));

export interface Intervention {
  /** Opens the confirm dialog for these events. */
  open: (subject: Subject, operation: string, events: SeenEvent[]) => void;
  close: () => void;
  /** Fetches the dialog's script before it is needed, when rows are ticked. */
  prepare: () => void;
  /** What the dialog is open for; screens hold still meanwhile. */
  opening: Opening | null;
}

/** The state of a screen's confirm dialog; `InterventionHost` shows it. */
export function useIntervention(): Intervention {
  const [opening, setOpening] = useState<Opening | null>(null);
  const opener = useRef<Element | null>(null);
  const open = useCallback((subject: Subject, operation: string, events: SeenEvent[]) => {
    // Undo opens from within the dialog; the way back is still the first one.
    if (document.activeElement?.closest('[role="dialog"]') == null) opener.current = document.activeElement;
    setOpening({ subject: { id: subject.id, name: subject.name }, operation, events, key: crypto.randomUUID() });
  }, []);
  const close = useCallback(() => {
    setOpening(null);
    // The dialog is taken away as a whole, so it cannot give the focus back itself.
    requestAnimationFrame(() => {
      if (opener.current instanceof HTMLElement && opener.current.isConnected) opener.current.focus({ preventScroll: true });
    });
  }, []);
  const prepare = useCallback(() => void loadDialog(), []);
  return useMemo(() => ({ open, close, prepare, opening }), [open, close, prepare, opening]);
}

interface InterventionHostProps {
  intervention: Intervention;
  actions: InterventionActions;
  /** Hears of every intervention once, when its outcome is known. */
  onSettled: (result: InterventionResult) => void;
}

/** The confirm dialog and result panel, loaded when first needed. */
export function InterventionHost({ intervention: { opening, close, open }, actions, onSettled }: InterventionHostProps) {
  if (opening === null) return null;
  return (
    <Suspense fallback={null}>
      <InterventionDialog key={opening.key} opening={opening} actions={actions} onClose={close} onSettled={onSettled} onOpen={open} />
    </Suspense>
  );
}
