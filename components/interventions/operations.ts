import { useTranslations } from 'next-intl';
import type { OutboxEvent, OutboxInfo, SkipCode, Skipped } from '@/lib/shared/model';
import type { State } from '@/lib/shared/states';
import { groupBy } from '@/lib/shared/group-by';
import { useAgo } from '../figures/format';

/** The operations in the order they are offered; others that an outbox has follow. */
const ORDER = ['retry', 'requeue', 'release', 'archive', 'restore'];
const rank = (operation: string) => (ORDER.includes(operation) ? ORDER.indexOf(operation) : ORDER.length);

export const inOrder = (operations: readonly string[], first?: string): string[] =>
  operations.toSorted((a, b) => Number(b === first) - Number(a === first) || rank(a) - rank(b) || a.localeCompare(b, 'en'));

export const OPERATION_KEYS = [
  ['r', 'retry'],
  ['q', 'requeue'],
  ['a', 'archive'],
] as const;

/** Why something cannot be done: a refusal of the shape or a skip code, or the states that the operation applies to. */
type Obstacle = string | readonly State[];

interface OperationChoice {
  operation: string;
  /** How many of the events are in a state it applies to. */
  allowed: number;
  obstacle: Obstacle | null;
}

/** What can be done to these events by their states; without operations that fit none of them (restore without an archived event). */
export function operationChoices(outbox: OutboxInfo, events: readonly Pick<OutboxEvent, 'state'>[], mayOperate: boolean) {
  const capabilities = outbox.capabilities.operations;
  const archived = events.filter((event) => event.state === 'archived').length;
  return inOrder(Object.keys(capabilities))
    .filter((operation) => (operation === 'restore' ? archived > 0 : archived < events.length))
    .map((operation): OperationChoice => {
      const capability = capabilities[operation];
      const refused = (obstacle: string): OperationChoice => ({ operation, allowed: 0, obstacle });
      if (!mayOperate) return refused('forbidden');
      if (!outbox.writable) return refused('read_only');
      if (!capability?.offered) return refused(capability?.because ?? 'not_supported');
      const allowed = events.filter((event) => event.state !== 'unmapped' && capability.from.includes(event.state)).length;
      return { operation, allowed, obstacle: allowed === 0 ? capability.from : null };
    });
}

/** The operations that a plan of events in these states may have, requeue first; of any state if none is named. */
export const planOperations = ({ writable, capabilities }: OutboxInfo, states: readonly string[]): string[] =>
  inOrder(Object.keys(capabilities.operations), 'requeue').filter((operation) => {
    const capability = capabilities.operations[operation];
    return writable && capability?.offered === true && (states.length === 0 || capability.from.some((state) => states.includes(state)));
  });

/** How many attempts each of these events is given; null if that differs or is not known. */
export const attemptsOf = (events: readonly { maxAttempts?: number | null }[]): number | null =>
  new Set(events.map(({ maxAttempts }) => maxAttempts)).size === 1 ? (events[0]?.maxAttempts ?? null) : null;

/** The name of an operation, with how many attempts a requeue gives where that is known; its key if the catalogue has none. */
export function useOperationName(): (operation: string, maxAttempts?: number | null) => string {
  const t = useTranslations('operations');
  return (operation, maxAttempts = null) =>
    operation === 'requeue' && maxAttempts !== null
      ? t('requeue.nameOf', { max: maxAttempts })
      : t.has(`${operation}.name`)
        ? t(`${operation}.name`)
        : operation;
}

/** What a warning says, in the words of the operation where it has its own. */
export function useWarningText(operation: string): (code: string) => string {
  const t = useTranslations();
  return (code) => {
    const own = [`operations.${operation}.warnings.${code}`, `warnings.${code}`].find((key) => t.has(key));
    return own === undefined ? code : t(own);
  };
}

export function useBecauseText(): (obstacle: Obstacle) => string {
  const t = useTranslations();
  return (obstacle) =>
    typeof obstacle === 'string'
      ? refusal(t, obstacle)
      : t('interventions.onlyFrom', { states: obstacle.map((state) => t(`states.${state}`)).join(', ') });
}

/** Why a row was or would be left alone. `detail` has the row's state now. */
export function useSkipText(): (code: SkipCode | null, detail?: Skipped['detail']) => string {
  const t = useTranslations();
  const ago = useAgo();
  return (code, detail) => {
    if (detail?.because !== undefined) return refusal(t, detail.because);
    if (code === null) return t('refusals.not_supported');
    return t(`skips.${code}`, {
      state: detail?.state === undefined ? 'none' : t(`states.${detail.state}`),
      ago: detail?.at == null ? 'none' : ago(detail.at),
    });
  };
}

/** Rows left alone, by reason. Where the times that reasons have differ, the group's text is without one. */
export function groupSkipped(skipped: readonly Skipped[], textOf: ReturnType<typeof useSkipText>): { why: string; ids: string[] }[] {
  const groups = groupBy(skipped, ({ code, detail }) => [code, detail?.because, detail?.state].join(' '));
  return [...groups.values()].map((rows) => {
    const texts = new Set(rows.map(({ code, detail }) => textOf(code, detail)));
    const [{ code, detail }] = rows;
    const why = textOf(code, texts.size === 1 ? detail : { ...detail, at: null });
    return { why, ids: rows.map(({ id }) => id) };
  });
}

function refusal(t: ReturnType<typeof useTranslations>, code: string): string {
  if (t.has(`refusals.${code}`)) return t(`refusals.${code}`);
  if (t.has(`skips.${code}`)) return t(`skips.${code}`, { state: 'none', ago: 'none' });
  return t('refusals.not_supported');
}
