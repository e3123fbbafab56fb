import { lazy, Suspense, useRef, useState } from 'react';
import type { InterventionResult } from '@/lib/shared/model';
import type { Open, Opening } from './use-sending';

const loadDialog = () => import('./intervention-dialog');
const InterventionDialog = lazy(async () => ({ default: (await loadDialog()).InterventionDialog }));
const prepare = () => void loadDialog();

export type Intervention = ReturnType<typeof useIntervention>;

/** The confirm dialog, loaded on first use, or by `prepare`. Screens pause polling while it is `opening` something. */
export function useIntervention() {
  const [opening, setOpening] = useState<Opening | null>(null);
  const opener = useRef<Element | null>(null);
  const open: Open = ({ id, name }, operation, events) => {
    // Undo opens from within the dialog; the focus still returns to the first opener.
    if (document.activeElement?.closest('[role="dialog"]') == null) opener.current = document.activeElement;
    setOpening({ subject: { id, name }, operation, events, key: crypto.randomUUID() });
  };
  const close = () => {
    setOpening(null);
    // The dialog is removed as a whole, so it cannot return the focus itself.
    requestAnimationFrame(() => {
      if (opener.current instanceof HTMLElement && opener.current.isConnected) opener.current.focus({ preventScroll: true });
    });
  };
  /** `onSettled` is called once per intervention, when its outcome is known. */
  const dialog = (onSettled: (result: InterventionResult) => void) =>
    opening !== null && (
      <Suspense fallback={null}>
        <InterventionDialog key={opening.key} opening={opening} onClose={close} onSettled={onSettled} onOpen={open} />
      </Suspense>
    );
  return { open, prepare, opening, dialog };
}
