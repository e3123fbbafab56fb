import { VERDICT_RULES } from '@/lib/diagnosis/judge/verdict-registry.gen';
import { METRIC_AGGREGATES } from '@/lib/figures/summarise';
import type { Aggregates } from '@/lib/live/base';
import type { Compute } from '@/lib/live/compute-in-store';
import { readNow } from '@/lib/live/read';
import type { Reading } from '@/lib/live/reading';
import type { Outbox } from '@/lib/outbox/outbox';

/** What metrics and verdicts want of the one statement of a reading. */
export const AGGREGATES: readonly Aggregates[] = [
  ...METRIC_AGGREGATES,
  ...VERDICT_RULES.map((rule) => ({ ...rule, owner: rule.verdict, showsTypes: false })),
];

/** A reading with everything that metrics and verdicts are made of. Throws DatabaseFailure and NotComputed. */
export const takeReading = (outbox: Outbox, foldedTo: string | null, compute: Compute | null = null): Promise<Reading> =>
  readNow(outbox, { foldedTo, aggregates: AGGREGATES, compute });
