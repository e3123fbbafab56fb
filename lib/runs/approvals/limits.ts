/** When a second person is asked: rules of the configuration against what is to be changed and what was of late. Pure; no floating point. */
import { digestOf } from '@/lib/database/digest';
import type { ApprovalRule } from '@/lib/config/config';
import type { OutboxSettings } from '@/lib/outbox/outbox';
import { sumAmounts, type Money } from '@/lib/shared/text/money';
import { APPROVAL_LIMITS, type ApprovalLimit } from '@/lib/shared/runs/approvals';
import type { Spent } from '@/lib/store/spending';

/** What limits count of some events. */
export interface Spend extends Omit<Spent, 'operation'> {
  /** Events whose amount is not known as a decimal. */
  withoutAmount: number;
  /** Events of types that no one has declared to be consumed idempotently. */
  notIdempotent: number;
}

/** Refunds count as payments do: a sum that goes up and down would hide what is moved. */
const unsigned = (amount: string | null): string | null => (amount === null ? null : amount.trim().replace(/^[+-](?=\d)/, ''));

export const addSums = (rows: readonly Money<string | null>[]): Record<string, string> =>
  Object.fromEntries(sumAmounts(rows).map(({ amount, currency }) => [currency ?? '', amount]));

export function spendOf(
  events: readonly ({ type: string | null } & Money<string | null>)[],
  { consumers = {} }: Pick<OutboxSettings, 'consumers'>,
): Spend {
  const amounts = events.map(({ amount, currency }) => ({ amount: unsigned(amount), currency }));
  return {
    count: events.length,
    sums: addSums(amounts),
    withoutAmount: amounts.filter((one) => sumAmounts([one]).length === 0).length,
    notIdempotent: events.filter(({ type }) => !isIdempotent(consumers, type)).length,
  };
}

/** A type that is not named counts as not. */
export const isIdempotent = (consumers: NonNullable<OutboxSettings['consumers']>, type: string | null): boolean =>
  type !== null && Object.hasOwn(consumers, type) && consumers[type] === 'idempotent';

/** Sums of several as one. */
export const joinSums = (all: readonly Record<string, string>[]): Record<string, string> =>
  addSums(all.flatMap((sums) => Object.entries(sums).map(([currency, amount]) => ({ currency, amount }))));

/** Whether one decimal is more than another. */
function isMore(amount: string, limit: string): boolean {
  const [rest] = sumAmounts([
    { amount, currency: null },
    { amount: `-${limit}`, currency: null },
  ]);
  return rest !== undefined && !rest.amount.startsWith('-') && /[1-9]/.test(rest.amount);
}

export const rulesFor = (rules: readonly ApprovalRule[], outbox: string, operation: string): ApprovalRule[] =>
  rules.filter(
    ({ outboxes, operations }) =>
      (outboxes === null || outboxes.includes(outbox)) && (operations === null || operations.includes(operation)),
  );

/** Whether events have to be read to know. */
export const readsEvents = (rules: readonly ApprovalRule[]): boolean =>
  rules.some(({ amount, notIdempotent }) => amount !== null || notIdempotent);

/** The limits that `spend`, with what was `spent` by operations of the same rule, goes over: one more than the limit is over, the limit itself is not. */
export function limitsPassed(rules: readonly ApprovalRule[], spend: Spend, spent: readonly Spent[]): ApprovalLimit[] {
  const passed = new Set<ApprovalLimit>();
  if (spend.count === 0) return [];
  for (const { operations, rows, amount, notIdempotent } of rules) {
    const same = spent.filter(({ operation }) => operations === null || operations.includes(operation));
    if (rows === null && amount === null && !notIdempotent) passed.add('always');
    if (rows !== null && spend.count + same.reduce((sum, { count }) => sum + count, 0) > rows) passed.add('rows');
    if (amount !== null && isOver(amount, spend, same)) passed.add('amount');
    if (notIdempotent && spend.notIdempotent > 0) passed.add('notIdempotent');
  }
  return APPROVAL_LIMITS.filter((limit) => passed.has(limit));
}

/** What was spent in a currency that the rule does not name was allowed by another rule or configuration: it counts for the present alone. */
function isOver(limits: Record<string, string>, spend: Spend, spent: readonly Spent[]): boolean {
  if (spend.withoutAmount > 0) return true;
  const all = joinSums([spend.sums, ...spent.map(({ sums }) => sums)]);
  return Object.entries(spend.sums).some(([currency]) => {
    const limit = Object.hasOwn(limits, currency) ? limits[currency] : undefined;
    return limit === undefined || isMore(all[currency] ?? '0', limit);
  });
}

/** SHA-256, hex, of all that decides whether a second person is asked: another one, and what was measured by it is void. */
export function policyDigest(
  rules: readonly ApprovalRule[],
  { consumers = {}, amount: paths }: Pick<OutboxSettings, 'consumers' | 'amount'>,
) {
  const sorted = (record: Record<string, string>): unknown => Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1));
  const texts = rules.map(({ operations, rows, amount, notIdempotent }) =>
    JSON.stringify([
      operations && [...operations].sort(),
      rows,
      amount && [sorted(amount), paths],
      notIdempotent ? sorted(consumers) : null,
    ]),
  );
  return digestOf(texts.sort());
}
