import { useTranslations } from 'next-intl';
import type { Count } from '@/lib/shared/figures/measured';
import type { FleetLine } from '@/lib/shared/figures/fleet';
import type { Evidence, SentenceFact } from '@/lib/shared/figures/verdicts';
import { visibleText } from '@/lib/shared/text/visible-text';
import { useFormat, useNow, useTicking } from '../figures/format';

/** The value that the catalogues' `select` tests for if something is unknown. */
const NONE = 'none';

/** Why an outbox cannot be read, by the code of its first evidence. */
const BLIND: Record<string, string> = {
  rows_hidden: 'hidden',
  source_slow: 'slow',
  no_privilege: 'no_privilege',
  table_missing: 'missing',
  server_outdated: 'outdated',
  store_away: 'store',
};

/** The verdict on an outbox as one sentence: "The relay stopped 6 m 10 s ago; 1,204 waiting, oldest 6 m 12 s". */
export function useVerdictSentence(summary: Pick<FleetLine['summary'], 'diagnosis' | 'oldestPendingAt' | 'slot' | 'depth'>): string {
  const { diagnosis, depth, oldestPendingAt, slot } = summary;
  const words = useTranslations('verdicts');
  const format = useFormat();
  const fact = (code: SentenceFact, name: string) => diagnosis.evidence.find((evidence) => evidence.code === code)?.values[name] ?? null;
  const number = (value: string | number | null) => (typeof value === 'number' ? format.number(value) : NONE);
  const count = (value: Count) => format.count(value) ?? NONE;
  const text = (value: string | number | null) => (value === null ? NONE : visibleText(String(value)));
  const span = (value: string | number | null) => (typeof value === 'number' ? format.age(value) : NONE);
  const bytes = (value: number | null | undefined) => (value == null ? NONE : format.bytes(value));
  const has = (code: SentenceFact) => diagnosis.evidence.some((evidence) => evidence.code === code);
  return useTicking((now) => {
    const age = (at: string | number | null) => (typeof at === 'string' ? format.age(now - Date.parse(at)) : NONE);
    return words(`${diagnosis.verdict}.sentence`, {
      since: age(diagnosis.since),
      waiting: count(depth.waiting),
      idle: depth.waiting.count === 0 ? 'yes' : 'no',
      oldest: age(oldestPendingAt),
      stuck: number(fact('stuck_events', 'count')),
      claimed: age(fact('oldest_claim', 'claimedAt')),
      dead: count(depth.dead),
      died: `${number(fact('newly_dead', 'count'))}${fact('newly_dead', 'atLeast') === 'yes' ? '+' : ''}`,
      within: span(fact('newly_dead', 'withinMs')),
      blind: BLIND[diagnosis.evidence[0]?.code ?? ''] ?? 'unusable',
      refused: has('all_failed') ? 'all' : 'most',
      endless: number(fact('endless_rows', 'count')),
      ahead: number(fact('failing_ahead', 'count')),
      behind: number(fact('fresh_behind', 'count')),
      type: text(fact('type_never_out', 'type')),
      never: number(fact('type_never_out', 'count')),
      key: text(fact('key_behind', 'key')),
      held: number(fact('key_behind', 'count')),
      grows: number(fact('grows_by', 'perMinute')),
      drainFrom: span(fact('drains_in', 'fromMs')),
      drainTo: span(fact('drains_in', 'toMs')),
      left: number(fact('left_behind', 'count')),
      slot: slot === null ? NONE : (slot.state ?? 'unknown'),
      slotName: text(slot?.name ?? null),
      slotIdle: age(slot?.inactiveSince ?? null),
      slotLag: bytes(slot?.lagBytes),
      slotHeld: bytes(slot?.heldBytes),
      slotEndangered: has('slot_endangered') ? 'yes' : 'no',
    });
  });
}

/** The sentence as a component of its own: its ages change every second, and what is around it does not. */
export const VerdictSentence = ({ summary }: { summary: FleetLine['summary'] }) => useVerdictSentence(summary);

/** Evidence as text: `…Ms`, `…Bytes`, `share`, times as how long ago, `sinceAt` as a time of day; others stay as they are. null if unknown. */
export function useEvidenceText(): (evidence: Evidence) => string | null {
  const words = useTranslations('evidence');
  const format = useFormat();
  const now = useNow();
  const say = (name: string, value: string | number | null): string | number => {
    if (value === null) return NONE;
    if (name.endsWith('Ms') && typeof value === 'number') return value < 1_000 ? format.latency(value) : format.age(value);
    if (name.endsWith('Bytes') && typeof value === 'number') return format.bytes(value);
    if (name === 'share' && typeof value === 'number') return format.percent(value);
    if (!name.endsWith('At') || typeof value !== 'string') return value;
    return name === 'sinceAt' ? format.recent(value, now) : format.relative(value, now);
  };
  return ({ code, values }) => {
    if (!words.has(code)) return null;
    // An age that comes with its start keeps growing, in step with the sentence above it.
    const start = Object.entries(values).find(([name]) => name.endsWith('At'))?.[1];
    const current = 'ageMs' in values && typeof start === 'string' ? { ...values, ageMs: now - Date.parse(start) } : values;
    return words(code, Object.fromEntries(Object.entries(current).map(([name, value]) => [name, say(name, value)])));
  };
}
