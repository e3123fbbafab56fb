'use client';

import { useTicking } from '../frame/clock';
import { useFormat } from './use-format';

/** Says a time as "3 m 12 s ago" inside a sentence. Renders its component every second: for a few sentences, not for a table. */
export function useAgo(): (at: string) => string {
  const format = useFormat();
  const now = useTicking((time) => Math.floor(time / 1_000) * 1_000);
  return (at) => format.relative(at, now);
}
