import { leavesIn, notNull } from '@/lib/shape/reason';
import type { TableName } from '@/lib/database/description';
import { whyNotOffered } from '../capabilities';
import { fitRange } from '../indexes/index-fit';
import type { FoundOutbox, Outbox } from '../outbox';
import { plainColumn, type Place } from '@/lib/shape/bound';
import type { ChangeRule } from '@/lib/shape/shape';

export interface Rights {
  insert: boolean;
  delete: boolean;
  update: Set<string>;
}

/** Exactly what the operations of this outbox need of its own tables: the grants of an installation, and nothing more. */
export function neededRights(outbox: FoundOutbox): Map<Place, Rights> {
  const { main, dead, shape } = outbox;
  const none = (): Rights => ({ insert: false, delete: false, update: new Set() });
  const rights = new Map<Place, Rights>([[main, none()], ...(dead === null ? [] : ([[dead, none()]] as [Place, Rights][]))]);
  const of = (place: Place): Rights => rights.get(place) ?? none();
  for (const rule of usableRules(outbox)) {
    if (rule.moveTo === 'main') {
      if (dead === null) continue;
      of(dead).delete = true;
      of(main).insert = true;
    } else {
      for (const place of placesOf(outbox, rule))
        for (const column of rule.call === undefined ? Object.keys(rule.set) : rule.call.writes)
          if (place.description.columns.has(column)) of(place).update.add(column);
    }
  }
  // Archive and restore move rows out of and into every table.
  if (shape.archive !== undefined) for (const needed of rights.values()) Object.assign(needed, { insert: true, delete: true });
  for (const [place, needed] of rights) if (locks(outbox, place) && needed.update.size === 0) needed.update.add(lockColumn(outbox, place));
  return rights;
}

export interface RightFor {
  right: string;
  operations: string[];
}

/** Which operations need each of the rights that `neededRights` answers; `column` quotes a name. */
export function rightsByOperation(outbox: FoundOutbox, column: (name: string) => string): Map<Place, RightFor[]> {
  const { operations, archive } = outbox.shape;
  // What each would need if it were the only one; of the two that the archive brings, one takes rows out and the other puts them back.
  const alone = (kept: typeof operations, withArchive: boolean): Map<Place, Rights> =>
    neededRights({ ...outbox, shape: { ...outbox.shape, operations: kept, archive: withArchive ? archive : undefined } });
  const needs: [string, Map<Place, Rights>][] = Object.entries(operations).map(([key, rules]) => [key, alone({ [key]: rules }, false)]);
  if (archive !== undefined) {
    const both = alone({}, true);
    const one = (what: Partial<Rights>) => new Map([...both].map(([place, rights]) => [place, { ...rights, ...what }]));
    needs.push(['archive', one({ insert: false })], ['restore', one({ delete: false, update: new Set() })]);
  }
  const who = (place: Place, has: (rights: Rights) => boolean): string[] =>
    needs.flatMap(([key, rights]) => (has(rights.get(place) ?? NONE) ? [key] : []));
  return new Map(
    [...neededRights(outbox)].map(([place, rights]) => [
      place,
      [
        ...(rights.insert ? [{ right: 'INSERT', operations: who(place, (one) => one.insert) }] : []),
        ...(rights.delete ? [{ right: 'DELETE', operations: who(place, (one) => one.delete) }] : []),
        ...[...rights.update].map((name) => ({ right: `UPDATE (${column(name)})`, operations: who(place, (one) => one.update.has(name)) })),
      ],
    ]),
  );
}

const NONE: Rights = { insert: false, delete: false, update: new Set() };

/** The server's counters of changes, where its history is better with them and not any role may read them; otherwise null. */
export function countersRead({ database, shape, main }: Pick<Outbox, 'database' | 'shape' | 'main'>): string | null {
  const published = plainColumn(main, 'publishedAt')?.name;
  const keeps = shape.states.some(({ state }) => state === 'published');
  const tells = published !== undefined && fitRange(main, 'o', published, [notNull(published)]) !== null;
  return keeps && tells ? null : database.engine.changeCounters;
}

export const countersGrant = (counters: string, account: string): string => `GRANT SELECT ON ${counters} TO ${account}`;

/** Every table a reader of this outbox needs: its own and its companions, each once. */
export function tablesRead(outbox: Pick<Outbox, 'main' | 'dead' | 'scope'>): TableName[] {
  const { main, dead, scope } = outbox;
  const names = [
    main.table,
    ...(dead === null ? [] : [dead.table]),
    ...[...scope.companions.values()].map(({ description }) => description.name),
  ];
  return [...new Map(names.map((name) => [`${name.schema ?? ''}\u0000${name.table}`, name])).values()];
}

/** Functions of the library that operations call, and which do; one that names no schema is looked for beside the outbox. */
export function calledFunctions(outbox: FoundOutbox): { schema: string; name: string; operations: string[] }[] {
  const called = new Map<string, string[]>();
  for (const [key, rules] of usableByOperation(outbox))
    for (const { call } of rules)
      if (call !== undefined) called.set(call.function, [...new Set([...(called.get(call.function) ?? []), key])]);
  return [...called].map(([written, operations]) => {
    const [first = '', second] = written.split('.');
    const schema = second === undefined ? (outbox.main.table.schema ?? 'public') : first;
    return { schema, name: second ?? first, operations };
  });
}

function usableByOperation(outbox: FoundOutbox): [operation: string, rules: ChangeRule[]][] {
  return Object.entries(outbox.shape.operations).map(([key, rules]) => [
    key,
    Array.isArray(rules) ? rules.filter((rule): rule is ChangeRule => 'version' in rule && whyNotOffered(outbox, rule) === null) : [],
  ]);
}

const usableRules = (outbox: FoundOutbox): ChangeRule[] => usableByOperation(outbox).flatMap(([, rules]) => rules);

function placesOf(outbox: FoundOutbox, rule: ChangeRule): Place[] {
  const { main, dead, shape } = outbox;
  const fromMain = rule.moveTo === undefined && shape.states.some(({ state }) => rule.from.includes(state));
  return [...(fromMain ? [main] : []), ...(dead !== null && rule.from.includes('dead') ? [dead] : [])];
}

function locks(outbox: FoundOutbox, place: Place): boolean {
  return outbox.shape.archive !== undefined || usableRules(outbox).some((rule) => placesOf(outbox, rule).includes(place));
}

/** A row can only be locked with the right to write one of its columns: the one that says least. */
function lockColumn(outbox: FoundOutbox, place: Place): string {
  const state = outbox.shape.states
    .flatMap(({ when }) => leavesIn(when).map((test) => test.column))
    .find((name) => place.description.columns.has(name));
  const [own] = (['error', 'diedAt', 'attempts'] as const).flatMap((role) => plainColumn(place, role)?.name ?? []);
  return own ?? state ?? place.id[0]?.name ?? 'id';
}
