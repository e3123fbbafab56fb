'use client';

import { useTranslations } from 'next-intl';
import type { Count } from '@/lib/shared/measured';
import type { Summary } from '@/lib/shared/model';
import type { Evidence } from '@/lib/shared/verdicts';
import { useTicking } from '../frame/clock';
import { useFormat } from '../figures/use-format';

/** What the catalogues test for with `select` where a value is not known. */
const NONE = 'none';

/** The verdict on an outbox as one sentence: "Relay stopped 6 m 10 s ago; 1,204 waiting, oldest 6 m 12 s". */
export function useVerdictSentence({
  diagnosis,
  depth,
  oldestPendingAt,
}: Pick<Summary, 'diagnosis' | 'depth' | 'oldestPendingAt'>): string {
  const words = useTranslations('verdicts');
  const format = useFormat();
  const count = (value: Count) => format.count(value) ?? NONE;
  return useTicking((now) => {
    const age = (at: string | null) => (at === null ? NONE : format.age(now - Date.parse(at)));
    return words(`${diagnosis.verdict}.sentence`, {
      since: age(diagnosis.since),
      waiting: count(depth.waiting),
      idle: depth.waiting.count === 0 ? 'yes' : 'no',
      oldest: age(oldestPendingAt),
      processing: count(depth.processing),
      dead: count(depth.dead),
    });
  });
}

/**
 * Puts a fact behind a verdict into words. Durations (`…Ms`) are said in two units, ISO times as how long ago, and counts
 * stay numbers for plurals. A fact this catalogue does not know is left out rather than shown as a code.
 */
export function useEvidenceText(): (evidence: Evidence) => string | null {
  const words = useTranslations('evidence');
  const format = useFormat();
  const now = useTicking((time) => Math.floor(time / 1_000) * 1_000);
  return ({ code, values }) => {
    if (!words.has(code)) return null;
    const said = Object.entries(values).map(([name, value]): [string, string | number] => {
      if (value === null) return [name, NONE];
      if (name.endsWith('Ms') && typeof value === 'number') return [name, format.age(value)];
      if (typeof value === 'string' && ISO_TIME.test(value)) return [name, format.relative(value, now)];
      return [name, value];
    });
    return words(code, Object.fromEntries(said));
  };
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
