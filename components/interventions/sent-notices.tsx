import { useTimeout } from '@mantine/hooks';
import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { useConsole, useMay } from '../frame/console';
import { sentBy, type Sent } from './sent';

const SentContext = createContext({ takeOver: () => {}, sent: [] as readonly Sent[], close: (_key: string) => {} });

/** `sent`: from this browser, and not answered yet, or not closed. `takeOver`: a dialog has closed; what it got no answer for is checked. */
export const useSentNotices = () => useContext(SentContext);

/** Interventions sent from this browser and not answered before a reload or a closed dialog: checked until their outcome is known. */
export function SentProvider({ children }: { children: ReactNode }) {
  const { account } = useConsole();
  const watched = useMay('event:operate');
  const [sent, setSent] = useState<Sent[]>([]);
  const takeOver = useCallback(() => {
    if (!watched) return;
    setSent((before) => [...before, ...sentBy(account.name).filter(({ key }) => !before.some((one) => one.key === key))]);
  }, [account.name, watched]);
  useTimeout(takeOver, 0, { autoInvoke: true });
  const close = useCallback((key: string) => setSent((before) => before.filter((one) => one.key !== key)), []);
  const value = useMemo(() => ({ takeOver, sent, close }), [takeOver, sent, close]);
  return <SentContext value={value}>{children}</SentContext>;
}
