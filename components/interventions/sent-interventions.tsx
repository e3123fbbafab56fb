'use client';

import { createContext, lazy, Suspense, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import type { InterventionActions } from './actions';
import { sentBy, type Sent } from './sent';

const SentNotice = lazy(async () => ({ default: (await import('./sent-notice')).SentNotice }));

interface Keeper {
  /** Null where nobody is signed in who could send anything. */
  account: string | null;
  /** A dialog has closed: what it was not told is looked up outside. */
  letGo: () => void;
  notices: ReactNode;
}

const KeeperContext = createContext<Keeper>({ account: null, letGo: () => undefined, notices: null });

export const useKeeper = (): Keeper => useContext(KeeperContext);

interface SentInterventionsProps {
  account: string;
  check: InterventionActions['check'];
  children: ReactNode;
}

/**
 * Looks after interventions that were sent from this browser and not answered: after a reload, or when their dialog was
 * closed, they are asked after until their outcome is known.
 */
export function SentInterventions({ account, check, children }: SentInterventionsProps) {
  const [asked, setAsked] = useState<Sent[]>([]);
  const takeOn = useCallback(
    () => setAsked((before) => [...before, ...sentBy(account).filter(({ key }) => !before.some((one) => one.key === key))]),
    [account],
  );
  useEffect(() => {
    const timer = setTimeout(takeOn);
    return () => clearTimeout(timer);
  }, [takeOn]);
  const drop = useCallback((key: string) => setAsked((before) => before.filter((one) => one.key !== key)), []);
  const keeper = useMemo(
    () => ({
      account,
      letGo: takeOn,
      notices: asked.length > 0 && (
        <Suspense fallback={null}>
          {asked.map((sent) => (
            <SentNotice key={sent.key} sent={sent} check={check} onClose={() => drop(sent.key)} />
          ))}
        </Suspense>
      ),
    }),
    [account, asked, check, drop, takeOn],
  );
  return <KeeperContext.Provider value={keeper}>{children}</KeeperContext.Provider>;
}
