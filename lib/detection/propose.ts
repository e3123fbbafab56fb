/** The YAML to paste for a candidate: a built-in shape with its parameters, or a mapping for a table made by hand. */
import { Document, isCollection, isSeq, visit, type Node } from 'yaml';
import type { CatalogueColumn, CatalogueTable } from '@/lib/database/catalogue';
import type { TableDescription } from '@/lib/database/description';
import { namesNoRow } from '@/lib/shape/bind/bound-shape';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { tableParts } from '@/lib/shape/schema/names';
import { VALUE_ROLES, type ShapeInput, type ValueRole, type WrittenCondition } from '@/lib/shape/shape';
import type { StatusWord } from '@/lib/shared/detection';
import type { LiveState } from '@/lib/shared/states';
import { assumedOf, type Found } from './candidates';
import { bare, slugOf, tableText } from './names';
import type { ColumnsRead } from './read';
import { claimOf, rolesOf, type RoleColumns } from './roles';
import { DICTIONARY, type DictionaryRole } from './words';

export interface ProposeOptions {
  database: string;
  taken: readonly string[];
}

/** A free id, and YAML of `outboxes` with one entry, with comments on what a person has to confirm. */
export interface Proposal {
  id: string;
  yaml: string;
}

export function proposeShape({ candidate, fit }: Found, key: string, options: ProposeOptions): Proposal {
  const maxAttempts = fit === null ? undefined : assumedOf(fit.shape).find(({ name }) => name === 'maxAttempts')?.value;
  const deadTable = otherDeadTable(candidate.companions, key);
  const parameters = { ...(maxAttempts === undefined ? {} : { maxAttempts }), ...(deadTable === null ? {} : { deadTable }) };
  return proposalOf(candidate.name, options, { shape: key, parameters }, (note) =>
    note(['parameters', 'maxAttempts'], " assumed: the relay's own setting counts"),
  );
}

/** The YAML of an inline mapping. */
export function proposeOwn({ name }: CatalogueTable, input: MappingInput, options: ProposeOptions): Proposal {
  const { roles, words, description } = input;
  const { states, ...mapping } = proposeMapping(input);
  const { kind, columns } = mapping;
  const isZoneless = (source: string): boolean => description.columns.get(source)?.kind === 'wall_clock';
  const zoneless = Object.values(columns).some((source) => typeof source === 'string' && isZoneless(source));
  const column = JSON.stringify(roles.status?.name ?? null);
  const asked = words.flatMap(({ word, state }) => {
    const quoted = JSON.stringify(word);
    const value = roles.status !== undefined && isNumbered(roles.status) ? word : quoted;
    return state === null ? [` what does ${quoted} mean? { state: …, when: { column: ${column}, equals: ${value} } }`] : [];
  });
  const rules = states.map(({ state, when }) => ({ state, when }));
  const by = (['sequence', 'createdAt'] as const).find((role) => columns[role] !== undefined);
  const bytes = uuidsIn(description, columns);
  const shape = {
    kind,
    columns,
    ...(columns.orderingKey === undefined || by === undefined ? {} : { ordering: { key: 'orderingKey', by } }),
    ...(bytes.length === 0 ? {} : { bytes: Object.fromEntries(bytes.map((name) => [name, 'uuid'])) }),
    states: rules,
    ...(mapping.dead === undefined ? {} : { dead: mapping.dead }),
  };
  return proposalOf(name, options, { shape, parameters: zoneless ? { timeZone: 'UTC' } : {} }, (note) => {
    note(['parameters', 'timeZone'], ' confirm: the times have no zone');
    note(['shape', 'ordering'], ' add blockedBy: [pending, retrying] where the events of a key go one after the other');
    note(['shape', 'bytes'], ' confirm: UUIDs, their bytes in order');
    if (rules.some(({ state }) => state === 'dead')) note(['shape', 'dead', 'table'], ' confirm: no event is dead in both tables');
    if (kind === 'presence') note(['shape', 'states'], ' rows are taken out when they are published', 'commentBefore');
    if (asked.length > 0) note(['shape', 'states'], asked.join('\n'));
    for (const [at, { confirm }] of states.entries()) if (confirm) note(['shape', 'states', at], ' confirm');
  });
}

/** Keys written in block style, an entry per line; all others are on one line. */
const BLOCKS = ['outboxes', 'shape', 'columns', 'states', 'dead', 'parameters'];

type Entry = { shape: object | string; parameters: Record<string, unknown> };
/** Comments the node at this path, if there is one. */
type Note = (path: (string | number)[], comment: string, where?: 'comment' | 'commentBefore') => void;

/** An entry as YAML, not checked yet. */
function proposalOf(name: Found['candidate']['name'], { database, taken }: ProposeOptions, entry: Entry, annotate: (note: Note) => void) {
  const { shape, parameters } = entry;
  const id = slugOf(name, taken);
  const table = name.schema.includes('.') || name.table.includes('.') ? name : tableText(name);
  const rest = Object.keys(parameters).length === 0 ? {} : { parameters };
  const doc = new Document({ outboxes: [{ id, name: name.table, database, table, shape, ...rest }] }, { aliasDuplicateObjects: false });
  visit(doc, {
    Pair: (_, { key, value }) => {
      if (isCollection(value) && !BLOCKS.includes(String(key))) value.flow = true;
      if (isSeq<Node>(value) && String(key) === 'states') for (const item of value.items) if (isCollection(item)) item.flow = true;
    },
  });
  annotate((path, comment, where = 'comment') => {
    const node = doc.getIn(['outboxes', 0, ...path], true) as Node | undefined;
    if (node !== undefined) node[where] = comment;
  });
  return { id, yaml: doc.toString({ lineWidth: 0, flowCollectionPadding: true }) };
}

/** The dead-letter table if its name is not the one the shape expects, otherwise null. */
function otherDeadTable(companions: Found['candidate']['companions'], key: string): string | null {
  const usual = SHAPES.find((shape) => shape.key === key)?.dead?.table;
  const dead = companions.filter(({ purpose }) => purpose === 'dead');
  if (usual === undefined || dead.length === 0) return null;
  const own = bare(tableParts(usual).table);
  return dead.some(({ table }) => bare(table.slice(table.indexOf('.') + 1)) === own) ? null : (dead[0]?.table ?? null);
}

/** The proposed parts of an inline mapping, in the order they are written. */
interface Mapping {
  kind: NonNullable<ShapeInput['kind']>;
  columns: ShapeInput['columns'];
  states: ProposedState[];
  dead: ShapeInput['dead'];
}

interface ProposedState {
  state: LiveState;
  when: WrittenCondition;
  confirm: boolean;
}

/** Roles written into the mapping as columns; the others of the dictionary become states. */
const PLAIN_ROLES = VALUE_ROLES.filter((role): role is ValueRole & DictionaryRole => role in DICTIONARY);

interface MappingInput extends Pick<ColumnsRead, 'description' | 'times' | 'zeros' | 'unset'> {
  roles: RoleColumns;
  words: readonly StatusWord[];
  /** Tables that may hold its dead letters. */
  dead: readonly CatalogueTable[];
}

function proposeMapping(input: MappingInput): Mapping {
  const { roles, times } = input;
  const id = keyOf(input.description, roles);
  const columns: Mapping['columns'] = { id: id.length === 1 ? (id[0] ?? '') : id };
  for (const role of PLAIN_ROLES) {
    const column = roles[role];
    if (column === undefined || (id.length === 1 && id[0] === column.name && role !== 'sequence')) continue;
    const time = role in times ? times[role as keyof typeof times] : undefined;
    // It is named like a time, but its values are none.
    if (time === null) continue;
    columns[role] = time === undefined ? column.name : { column: column.name, time };
  }
  return { ...statesOf(input, columns), columns, dead: input.dead.flatMap((table) => deadOf(table, input, id) ?? [])[0] };
}

/** Keys of sixteen bytes. */
function uuidsIn({ columns: all }: TableDescription, columns: Mapping['columns']): string[] {
  const keys = [columns.id, columns.aggregateId, columns.orderingKey, columns.dedupKey, columns.traceId].flat();
  return [...new Set(keys)].filter((name): name is string => typeof name === 'string' && all.get(name)?.type === 'binary(16)');
}

/** The columns that identify a row: the best unique key, without the time column a table is partitioned by. */
function keyOf(description: TableDescription, roles: RoleColumns): string[] {
  const all = [...description.columns.values()];
  const identifying = new Set(all.filter((one) => !namesNoRow(one)).map(({ name }) => name));
  const usable = description.indexes
    .filter(
      ({ unique, predicate, columns }) =>
        unique && predicate === null && columns.every((name) => description.columns.get(name)?.nullable === false),
    )
    .map(({ columns: every }) => {
      const columns = every.filter((name) => identifying.has(name));
      return { columns, whole: columns.length === every.length };
    })
    .filter(({ columns }) => columns.length > 0);
  const likeness = (name: string): number => (/^id$/.test(bare(name)) ? 0 : /(id|번호|ид|uuid|guid|key|seq|no)$/u.test(bare(name)) ? 1 : 2);
  const [best] = usable.sort(
    (a, b) =>
      Number(b.whole) - Number(a.whole) ||
      a.columns.length - b.columns.length ||
      likeness(a.columns[0] ?? '') - likeness(b.columns[0] ?? ''),
  );
  if (best !== undefined) return best.columns;
  const named = all.find(({ name }) => likeness(name) === 0);
  return [(named ?? roles.dedupKey ?? roles.sequence ?? all[0])?.name ?? 'id'];
}

const FIFTY_YEARS_S = 1_576_800_000;

/** The column holds a value: of texts and bytes '' is none, of numbers 0 and of times 1970 and before where there are such. */
function filled({ name: column, kind }: CatalogueColumn, zeros: ColumnsRead['zeros']): WrittenCondition {
  if (kind === 'text' || kind === 'binary') return { column, isEmpty: false };
  if (!zeros.has(column)) return { column, isNull: false };
  return kind === 'integer' ? { column, above: 0 } : { all: [{ column, isNull: false }, { not: { column, olderThan: FIFTY_YEARS_S } }] };
}

function statesOf(input: MappingInput, columns: Mapping['columns']): Pick<Mapping, 'kind' | 'states'> {
  const { roles, words, zeros } = input;
  const { status, publishedFlag } = roles;
  const publishedAt = columns.publishedAt === undefined ? undefined : roles.publishedAt;
  const around = (published: WrittenCondition | null, pending: WrittenCondition): ProposedState[] => [
    ...(published === null ? [] : [{ state: 'published' as const, when: published, confirm: 'all' in published }]),
    ...otherStates(input, columns),
    { state: 'pending', when: pending, confirm: false },
  ];
  if (status !== undefined && words.some((word) => word.state !== null))
    return { kind: 'status', states: fromWords(status, input, otherStates(input, columns)) };
  if (publishedAt !== undefined) {
    const { name: column } = publishedAt;
    const published = filled(publishedAt, zeros);
    return { kind: 'timestamp', states: around(published, 'isNull' in published ? { column, isNull: true } : { not: published }) };
  }
  if (publishedFlag !== undefined) {
    const { name: column, nullable } = publishedFlag;
    const isSet: WrittenCondition = { column, isTrue: true };
    return { kind: 'flag', states: around(isSet, nullable ? { not: isSet } : { column, isTrue: false }) };
  }
  // Without known status words, as in an empty table, every row counts as pending.
  if (status !== undefined) return { kind: 'status', states: [{ state: 'pending', when: { always: true }, confirm: true }] };
  return { kind: 'presence', states: around(null, { always: true }) };
}

/** States shown by columns of their own, however published rows are recognised. */
function otherStates({ roles, zeros }: MappingInput, columns: Mapping['columns']): ProposedState[] {
  const { diedAt, deadFlag, lockedUntil, attempts, maxAttempts } = roles;
  const claim = claimOf(roles);
  const states: ProposedState[] = [];
  const put = (state: LiveState, when: WrittenCondition, confirm = false): void => void states.push({ state, when, confirm });
  if (diedAt !== undefined && columns.diedAt !== undefined) put('dead', filled(diedAt, zeros), /failed/.test(bare(diedAt.name)));
  if (deadFlag !== undefined) put('dead', { column: deadFlag.name, isTrue: true }, /fail|실패/u.test(bare(deadFlag.name)));
  if (attempts !== undefined && maxAttempts !== undefined && states.length === 0)
    put('dead', { column: attempts.name, atLeast: { column: maxAttempts.name } }, true);
  if (lockedUntil !== undefined && columns.lockedUntil !== undefined) put('processing', { column: lockedUntil.name, future: true });
  else if (claim !== undefined && (claim === roles.lockedBy || columns.attemptedAt !== undefined))
    put('processing', filled(claim, zeros), true);
  if (attempts !== undefined) put('retrying', { column: attempts.name, above: 0 });
  return states;
}

const ORDER: LiveState[] = ['published', 'dead', 'processing', 'retrying', 'pending'];

const isNumbered = ({ kind }: CatalogueColumn): boolean => kind === 'integer' || kind === 'boolean';

/** `marks`: states shown by other columns; they tell waiting rows apart where no word does. */
function fromWords(status: CatalogueColumn, { words, unset }: MappingInput, marks: ProposedState[]): ProposedState[] {
  const { name: column } = status;
  const states = ORDER.flatMap((state) =>
    [true, false].flatMap((sure): ProposedState[] => {
      const own = words
        .filter((word) => word.state === state && word.sure === sure)
        .map(({ word }) => (isNumbered(status) ? Number(word) : word));
      const [first] = own;
      if (first === undefined) return [];
      return [{ state, when: own.length === 1 ? { column, equals: first } : { column, in: own }, confirm: !sure }];
    }),
  );
  if (unset) states.push({ state: 'pending', when: { column, isNull: true }, confirm: true });
  const untold = marks.filter((mark) => !(mark.state === 'dead' && mark.confirm) && !states.some(({ state }) => state === mark.state));
  return states.flatMap((rule) =>
    rule.state === 'pending' || rule.state === 'retrying'
      ? [...untold.map((mark) => ({ ...mark, confirm: mark.confirm || rule.confirm, when: { all: [rule.when, mark.when] } })), rule]
      : [rule],
  );
}

const HAD_ID = /^(original|source|outbox|event|message|msg|row|entry)+id$/;

/** A dead-letter table, with the roles whose columns have other names there; undefined if its rows could not be matched with the outbox's. */
function deadOf(dead: CatalogueTable, { description, roles }: MappingInput, id: string[]): Mapping['dead'] {
  const there = new Set(dead.columns.map(({ name }) => name));
  const kind = id.length === 1 ? description.columns.get(id[0] ?? '')?.kind : undefined;
  // Beside a number of its own, the id that the event had.
  const had = dead.columns.find((one) => one.kind === kind && HAD_ID.test(bare(one.name)) && !description.columns.has(one.name))?.name;
  const ids = had === undefined ? id : [had];
  if (!ids.every((name) => there.has(name))) return undefined;
  const own = rolesOf(dead);
  const columns: NonNullable<Mapping['dead']>['columns'] = had === undefined ? {} : { id: had };
  for (const role of PLAIN_ROLES) {
    const column = own[role];
    const main = roles[role];
    if (column !== undefined && column.name !== main?.name && !ids.includes(column.name) && (main === undefined || !there.has(main.name)))
      columns[role] = column.name;
  }
  return { table: dead.name.table, ...(Object.keys(columns).length === 0 ? {} : { columns }) };
}
