/** The mapping proposed for a table made by hand: roles, states and what a person has to confirm. */
import type { TableDescription } from '@/lib/database/engine';
import { namesNoRow } from '@/lib/shape/bind/bound-shape';
import type { WrittenCondition, ColumnRole, ShapeInput } from '@/lib/shape/shape';
import type { StatusWord } from '@/lib/shared/detection';
import type { LiveState } from '@/lib/shared/states';
import type { TimeRole, TimeSpelling } from './look';
import { bare } from './names';
import { rolesOf, type RoleColumns } from './roles';
import type { CatalogueTable } from '@/lib/database/catalogue';

/** The parts of an inline mapping that are proposed, in the order they are written. */
export interface Mapping {
  kind: NonNullable<ShapeInput['kind']>;
  columns: ShapeInput['columns'];
  states: ProposedState[];
  dead: ShapeInput['dead'];
}

export interface ProposedState {
  state: LiveState;
  when: WrittenCondition;
  /** A person has to say whether this is so. */
  confirm: boolean;
}

/** Roles that stand in a mapping as they are; the rest of the dictionary tells states. */
const PLAIN_ROLES = [
  'sequence', 'type', 'topic', 'aggregateType', 'aggregateId', 'createdAt', 'publishedAt', 'attemptedAt', 'lockedUntil', 'lockedBy', 'availableAt', 'diedAt',
  'attempts', 'maxAttempts', 'error', 'dedupKey', 'traceId', 'payload', 'headers', 'version',
] as const satisfies ColumnRole[]; // prettier-ignore

export interface MappingInput {
  table: CatalogueTable;
  description: TableDescription;
  roles: RoleColumns;
  times: Partial<Record<TimeRole, TimeSpelling | null>>;
  words: readonly StatusWord[];
  dead: CatalogueTable | null;
}

/** A complete mapping for the table. */
export function proposeMapping(input: MappingInput): Mapping {
  const { roles, times } = input;
  const id = keyOf(input.description, roles);
  const columns: Mapping['columns'] = { id: id.length === 1 ? (id[0] ?? '') : id };
  for (const role of PLAIN_ROLES) {
    const column = roles[role];
    if (column === undefined || (id.length === 1 && id[0] === column.name && role !== 'sequence') || id[0] === undefined) continue;
    const time = role in times ? times[role as TimeRole] : undefined;
    // A column named like a time that holds none has no such role.
    if (time === null) continue;
    columns[role] = time === undefined ? column.name : { column: column.name, time };
  }
  return { ...statesOf(roles, columns, input.words), columns, dead: deadOf(input, id) };
}

/**
 * The columns that name one row: of the unique keys the one most like a key, shortest first. The time by which a table is split into
 * partitions has to be in its keys and finds no row again: it is left out.
 */
export function keyOf(description: TableDescription, roles: RoleColumns): string[] {
  const lasting = (name: string): boolean => {
    const column = description.columns.get(name);
    return column !== undefined && !namesNoRow(column);
  };
  const usable = description.indexes
    .filter(
      (index) =>
        index.unique && index.predicate === null && index.columns.every((name) => description.columns.get(name)?.nullable === false),
    )
    .map((index) => ({ columns: index.columns.filter(lasting), whole: index.columns.every(lasting) }))
    .filter(({ columns }) => columns.length > 0);
  const likeness = (name: string): number => (/^id$/.test(bare(name)) ? 0 : /(id|번호|ид|uuid|guid|key|seq|no)$/u.test(bare(name)) ? 1 : 2);
  const [best] = usable.sort(
    (a, b) =>
      Number(b.whole) - Number(a.whole) ||
      a.columns.length - b.columns.length ||
      likeness(a.columns[0] ?? '') - likeness(b.columns[0] ?? ''),
  );
  if (best !== undefined) return best.columns;
  const named = [...description.columns.keys()].find((name) => likeness(name) === 0);
  return [named ?? roles.dedupKey?.name ?? roles.sequence?.name ?? [...description.columns.keys()][0] ?? 'id'];
}

function statesOf(roles: RoleColumns, columns: Mapping['columns'], words: readonly StatusWord[]): Pick<Mapping, 'kind' | 'states'> {
  const { status, publishedFlag, deadFlag } = roles;
  const publishedAt = columns.publishedAt === undefined ? undefined : roles.publishedAt;
  const dead: ProposedState[] = [
    ...(columns.diedAt === undefined || roles.diedAt === undefined
      ? []
      : [{ state: 'dead' as const, when: { column: roles.diedAt.name, isNull: false }, confirm: /failed/.test(bare(roles.diedAt.name)) }]),
    ...(deadFlag === undefined
      ? []
      : [{ state: 'dead' as const, when: { column: deadFlag.name, isTrue: true }, confirm: /fail|실패/u.test(bare(deadFlag.name)) }]),
  ];
  const between = [...dead, ...claimsOf(roles, columns), ...retriesOf(roles)];
  if (status !== undefined && words.some((word) => word.state !== null)) return { kind: 'status', states: fromWords(status, words, roles) };
  if (publishedAt !== undefined) {
    const { name } = publishedAt;
    return {
      kind: 'timestamp',
      states: [
        { state: 'published', when: { column: name, isNull: false }, confirm: false },
        ...between,
        { state: 'pending', when: { column: name, isNull: true }, confirm: false },
      ],
    };
  }
  if (publishedFlag !== undefined) {
    const { name, nullable } = publishedFlag;
    return {
      kind: 'flag',
      states: [
        { state: 'published', when: { column: name, isTrue: true }, confirm: false },
        ...between,
        { state: 'pending', when: nullable ? { not: { column: name, isTrue: true } } : { column: name, isTrue: false }, confirm: false },
      ],
    };
  }
  if (status !== undefined) {
    // An empty table tells no words yet: everything waits until they are known.
    return { kind: 'status', states: [{ state: 'pending', when: { column: status.name, isNull: false }, confirm: true }] };
  }
  return { kind: 'presence', states: [...between, { state: 'pending', when: { always: true }, confirm: false }] };
}

function claimsOf(roles: RoleColumns, columns: Mapping['columns']): ProposedState[] {
  if (roles.lockedUntil !== undefined && columns.lockedUntil !== undefined)
    return [{ state: 'processing', when: { column: roles.lockedUntil.name, future: true }, confirm: false }];
  if (roles.lockedBy !== undefined) return [{ state: 'processing', when: { column: roles.lockedBy.name, isNull: false }, confirm: true }];
  return [];
}

function retriesOf({ attempts }: RoleColumns): ProposedState[] {
  return attempts === undefined ? [] : [{ state: 'retrying', when: { column: attempts.name, above: 0 }, confirm: false }];
}

const ORDER: LiveState[] = ['published', 'dead', 'processing', 'retrying', 'pending'];

function fromWords(status: { name: string; kind: string }, words: readonly StatusWord[], roles: RoleColumns): ProposedState[] {
  const value = (word: string): string | number => (status.kind === 'integer' ? Number(word) : word);
  const test = (of: readonly StatusWord[]): WrittenCondition =>
    of.length === 1
      ? { column: status.name, equals: value(of[0]?.word ?? '') }
      : { column: status.name, in: of.map(({ word }) => value(word)) };
  const states = ORDER.flatMap((state): ProposedState[] => {
    const sure = words.filter((word) => word.state === state && word.sure);
    const unsure = words.filter((word) => word.state === state && !word.sure);
    return [
      ...(sure.length > 0 ? [{ state, when: test(sure), confirm: false }] : []),
      ...(unsure.length > 0 ? [{ state, when: test(unsure), confirm: true }] : []),
    ];
  });
  const { attempts } = roles;
  if (attempts === undefined || states.some(({ state }) => state === 'retrying')) return states;
  const waiting = states.findIndex(({ state }) => state === 'pending');
  const pending = states[waiting];
  if (pending === undefined) return states;
  return states.toSpliced(waiting, 0, {
    ...pending,
    state: 'retrying',
    when: { all: [pending.when, { column: attempts.name, above: 0 }] },
  });
}

/** The dead-letter table beside it: roles whose columns are called otherwise there. */
function deadOf({ dead, roles }: MappingInput, id: string[]): Mapping['dead'] {
  if (dead === null) return undefined;
  const there = new Set(dead.columns.map(({ name }) => name));
  // Without the key of the outbox its rows could not be told apart.
  if (!id.every((name) => there.has(name))) return undefined;
  const own = rolesOf(dead);
  const columns: NonNullable<Mapping['dead']>['columns'] = {};
  for (const role of PLAIN_ROLES) {
    const column = own[role];
    const main = roles[role];
    if (column !== undefined && column.name !== main?.name && !id.includes(column.name) && (main === undefined || !there.has(main.name)))
      columns[role] = column.name;
  }
  return { table: dead.name.table, columns };
}
