import type { TableName } from '@/lib/database/engine';
import { whyNotOffered } from './capabilities';
import { fitRange } from './index-fit';
import { plainColumn, type Outbox, type Place } from './outbox';
import type { ChangeRule, Condition } from './shape';

/** What the operations of an outbox need in one of its tables. */
export interface Rights {
  insert: boolean;
  delete: boolean;
  update: Set<string>;
}

type Bound = Omit<Outbox, 'capabilities' | 'writable' | 'whyReadOnly' | 'proof'>;

/** Exactly what the operations of this outbox need of its own tables: the grants of an installation, and nothing more. */
export function neededRights(outbox: Bound): Map<Place, Rights> {
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

/**
 * The server's counters of changes that its history is better with, quoted as in a grant: where rows go when they are
 * published, or no index tells which were. Null where that is not so, or any role is told.
 */
export function countersRead({ database, shape, main }: Pick<Outbox, 'database' | 'shape' | 'main'>): string | null {
  const published = plainColumn(main, 'publishedAt')?.name;
  const keeps = shape.states.some(({ state }) => state === 'published');
  const tells = published !== undefined && fitRange(main, 'o', published, [{ column: published, isNull: false }]) !== null;
  return keeps && tells ? null : database.engine.changeCounters;
}

/** Lets a role read them; `account` as a grant names it. */
export const countersGrant = (counters: string, account: string): string => `GRANT SELECT ON ${counters} TO ${account}`;

/** Every table a reader of this outbox needs: its own and its companions, each once. */
export function tablesRead(outbox: Pick<Outbox, 'main' | 'dead' | 'companions'>): TableName[] {
  const { main, dead, companions } = outbox;
  const names = [
    main.table,
    ...(dead === null ? [] : [dead.table]),
    ...[...companions.values()].map(({ description }) => description.name),
  ];
  return [...new Map(names.map((name) => [`${name.schema ?? ''}\u0000${name.table}`, name])).values()];
}

/** Functions of the library that operations call; one that names no schema is looked for beside the outbox. */
export function calledFunctions(outbox: Bound): { schema: string; name: string }[] {
  const called = new Set(usableRules(outbox).flatMap((rule) => (rule.call === undefined ? [] : [rule.call.function])));
  return [...called].map((written) => {
    const [first = '', second] = written.split('.');
    return second === undefined ? { schema: outbox.main.table.schema ?? 'public', name: first } : { schema: first, name: second };
  });
}

function usableRules(outbox: Bound): ChangeRule[] {
  return Object.values(outbox.shape.operations).flatMap((rules) =>
    Array.isArray(rules) ? rules.filter((rule): rule is ChangeRule => 'version' in rule && whyNotOffered(outbox, rule) === null) : [],
  );
}

/** The tables whose rows a rule takes. */
function placesOf(outbox: Bound, rule: ChangeRule): Place[] {
  const { main, dead, shape } = outbox;
  const fromMain = rule.moveTo === undefined && shape.states.some(({ state }) => rule.from.includes(state));
  return [...(fromMain ? [main] : []), ...(dead !== null && rule.from.includes('dead') ? [dead] : [])];
}

/** True when an operation can take a row of this table. */
function locks(outbox: Bound, place: Place): boolean {
  return outbox.shape.archive !== undefined || usableRules(outbox).some((rule) => placesOf(outbox, rule).includes(place));
}

/** A row can only be locked with the right to write one of its columns: the one that says least. */
function lockColumn(outbox: Bound, place: Place): string {
  const state = outbox.shape.states.flatMap(({ when }) => columnsIn(when)).find((name) => place.description.columns.has(name));
  const [own] = (['error', 'diedAt', 'attempts'] as const).flatMap((role) => plainColumn(place, role)?.name ?? []);
  return own ?? state ?? place.id[0]?.name ?? 'id';
}

function columnsIn(condition: Condition): string[] {
  if ('all' in condition) return condition.all.flatMap(columnsIn);
  if ('any' in condition) return condition.any.flatMap(columnsIn);
  if ('not' in condition) return columnsIn(condition.not);
  return 'column' in condition ? [condition.column] : [];
}
