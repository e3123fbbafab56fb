import { createContext, useContext } from 'react';
import type { ShownCode } from '@/lib/shared/problems';

/** Takes a mark off the charts; answers why it could not, null when it is off. */
export type TakeOff = (mark: string) => Promise<ShownCode | null>;

const MarkTools = createContext<TakeOff | null>(null);

/** Who may take marks off the charts below it, by what. */
export const MarkToolsProvider = MarkTools.Provider;

/** null for who may not. */
export const useTakeOff = (): TakeOff | null => useContext(MarkTools);
