import { leavesIn, notNull } from '@/lib/shape/reason';
import type { TableName } from '@/lib/database/description';
import { whyNotOffered } from '../capabilities';
import { fitRange } from '../indexes/index-fit';
import { livePlaces, type FoundOutbox, type Outbox } from '../outbox';
import { plainColumn, type Place } from '@/lib/shape/bound';
import type { ChangeRule } from '@/lib/shape/shape';

export type Rights = { insert: boolean; delete: boolean; update: Set<string> };

/** What one operation alone needs on a table. */
interface Need extends Rights {
  operation: string;
  /** It updates a column only because locking a row requires that right. */
  locksOnly: boolean;
}

/** Exactly the rights that this outbox's operations need on its own tables, together and each: what an installation grants. */
export function neededRights(outbox: FoundOutbox): Map<Place, Rights & { by: Need[] }> {
  return new Map(
    livePlaces(outbox).map((place) => {
      const by = needsOf(outbox, place);
      const writing = by.filter(({ locksOnly }) => !locksOnly);
      const update = new Set((writing.some((one) => one.update.size > 0) ? writing : by).flatMap((one) => [...one.update]));
      return [place, { insert: by.some((one) => one.insert), delete: by.some((one) => one.delete), update, by }];
    }),
  );
}

function needsOf(outbox: FoundOutbox, place: Place): Need[] {
  const { main, dead, shape } = outbox;
  const need = (operation: string, { insert = false, delete: remove = false, locks = false, written = [] as string[] }): Need => {
    const update = new Set(written.filter((name) => place.description.columns.has(name)));
    const locksOnly = locks && update.size === 0;
    return { operation, insert, delete: remove, update: locksOnly ? new Set([lockColumn(outbox, place)]) : update, locksOnly };
  };
  const needs = usableByOperation(outbox).map(([operation, rules]) => {
    const moves = dead !== null && rules.some(({ moveTo }) => moveTo !== undefined);
    const here = rules.filter((rule) => placesOf(outbox, rule).includes(place));
    const written = here.flatMap(({ moveTo, set, call }) => (moveTo !== undefined ? [] : (call?.writes ?? Object.keys(set))));
    return need(operation, { insert: moves && place === main, delete: moves && place === dead, locks: here.length > 0, written });
  });
  // Archive and restore move rows out of and into all of the tables.
  if (shape.archive !== undefined) needs.push(need('archive', { delete: true, locks: true }), need('restore', { insert: true }));
  return needs;
}

/** The server's counters of changes, if history is better with them and reading them needs a grant; otherwise null. */
export function countersRead({ database, shape, main }: Pick<Outbox, 'database' | 'shape' | 'main'>): string | null {
  const published = plainColumn(main, 'publishedAt')?.name;
  const keeps = shape.states.some(({ state }) => state === 'published');
  const tells = published !== undefined && fitRange(main, 'o', published, [notNull(published)]) !== null;
  return keeps && tells ? null : database.engine.changeCounters;
}

export const countersGrant = (counters: string, account: string): string => `GRANT SELECT ON ${counters} TO ${account}`;

/** Every table that reading this outbox requires, companions included, each once. */
export function tablesRead(outbox: Pick<Outbox, 'main' | 'dead' | 'scope'>): TableName[] {
  const companions = [...outbox.scope.companions.values()].map(({ description }) => description.name);
  const names = [...livePlaces(outbox).map(({ table }) => table), ...companions];
  return [...new Map(names.map((name) => [`${name.schema ?? ''}\u0000${name.table}`, name])).values()];
}

/** Library functions that operations call, and which ones; a function without a schema is expected in the outbox's schema. */
export function calledFunctions(outbox: FoundOutbox): { schema: string; name: string; operations: string[] }[] {
  const called = new Map<string, string[]>();
  for (const [key, rules] of usableByOperation(outbox))
    for (const { call } of rules)
      if (call !== undefined) called.set(call.function, [...new Set([...(called.get(call.function) ?? []), key])]);
  return [...called].map(([written, operations]) => {
    const [first = '', second] = written.split('.');
    return { schema: second === undefined ? (outbox.main.table.schema ?? 'public') : first, name: second ?? first, operations };
  });
}

function usableByOperation(outbox: FoundOutbox): [operation: string, rules: ChangeRule[]][] {
  return Object.entries(outbox.shape.operations).map(([key, rules]) => [
    key,
    Array.isArray(rules) ? rules.filter((rule): rule is ChangeRule => 'version' in rule && whyNotOffered(outbox, rule) === null) : [],
  ]);
}

function placesOf(outbox: FoundOutbox, rule: ChangeRule): Place[] {
  const { main, dead, shape } = outbox;
  const fromMain = rule.moveTo === undefined && shape.states.some(({ state }) => rule.from.includes(state));
  return [...(fromMain ? [main] : []), ...(dead !== null && rule.from.includes('dead') ? [dead] : [])];
}

/** Locking a row requires the right to update one of its columns: the least important one is chosen. */
function lockColumn(outbox: FoundOutbox, place: Place): string {
  const state = outbox.shape.states
    .flatMap(({ when }) => leavesIn(when).map((test) => test.column))
    .find((name) => place.description.columns.has(name));
  const [own] = (['error', 'diedAt', 'attempts'] as const).flatMap((role) => plainColumn(place, role)?.name ?? []);
  return own ?? state ?? place.id[0]?.name ?? 'id';
}
