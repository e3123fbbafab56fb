import { createHash } from 'node:crypto';
import type { TableRules } from '@/lib/database/description';
import type { Place } from '@/lib/shape/bound';
import { isParsedKind } from '@/lib/shape/schema/condition';
import type { ProofDifference } from '@/lib/shared/changes/proofs';
import { type FoundOutbox, tableLabel } from '../outbox';

/** A table that our tests run operations on: its columns, and the triggers that may alter written rows. */
export interface ProvenTable {
  /** The kind of each column, or `generated`. */
  columns: Record<string, string>;
  triggers: string[];
}

export type TableFacts = ReturnType<typeof tableFacts>;

/** What a proof was made on: the mapping and its tables. The proof holds while these facts are equal. */
export interface ProofFacts {
  version: 1;
  engine: string;
  database: string;
  /** A digest of each part of the mapping that determines what is read or written. */
  mapping: Record<string, string>;
  main: TableFacts;
  dead: TableFacts | null;
}

/** Parts of a shape that are words for people, or only recognise a table. */
const WORDS = new Set(['key', 'label', 'origin', 'engines', 'table', 'match', 'family', 'claim', 'cautions', 'detect', 'facts', 'proven']);

export function proofFacts(outbox: FoundOutbox): ProofFacts {
  const parts = Object.entries(outbox.shape).filter(([part, value]) => !WORDS.has(part) && value !== undefined);
  return {
    version: 1,
    engine: outbox.database.engine.key,
    database: outbox.database.id,
    mapping: {
      ...Object.fromEntries(parts.map(([part, value]) => [part, digest(value)])),
      parameters: digest([outbox.shape.parameters, outbox.parameters, outbox.channel]),
    },
    main: tableFacts(outbox.main, outbox.rules.main),
    dead: outbox.dead === null ? null : tableFacts(outbox.dead, outbox.rules.dead),
  };
}

/** SHA-256 of the facts, as 64 hexadecimal digits. */
export const fingerprintOf = (facts: ProofFacts): string => digest(facts);

function tableFacts(place: Place, rules: TableRules | null) {
  const { description, table } = place;
  const triggers = rules?.triggers?.filter(({ enabled }) => enabled);
  return {
    name: tableLabel(table),
    /** By column: its type, with `not null` and `generated` if it is so. */
    columns: Object.fromEntries(
      [...description.columns.values()].map((column) => [
        column.name,
        `${column.type}${column.nullable ? '' : ' not null'}${column.generated ? ' generated' : ''}`,
      ]),
    ),
    keys: description.indexes
      .filter((index) => index.unique)
      .map((index) => index.columns.join(', ') + (index.predicate === null ? '' : ` where ${index.predicate}`))
      .sort(),
    /** A digest of each enabled trigger and what it runs; null if they cannot be read. */
    triggers: triggers === undefined ? null : Object.fromEntries(triggers.map((trigger) => [trigger.name, digest(trigger)])),
    rewritten: rules?.rewritten ?? false,
  };
}

/** What differs between a proof's facts and now, in the order to check it; [] while the proof holds. */
export function differences(was: ProofFacts, now: ProofFacts): ProofDifference[] {
  // Earlier releases counted more parts.
  const parts = changes(was.mapping, now.mapping).filter(({ name }) => !WORDS.has(name));
  parts.sort((a, b) => (a.name < b.name ? -1 : 1));
  const moved = was.database !== now.database || was.engine !== now.engine;
  return [
    ...(moved ? [difference('database', 'database', { was: was.database, now: now.database })] : []),
    ...parts.map(({ name }) => difference('mapping', name, {})),
    ...tableDifferences(was.main, now.main),
    ...tableDifferences(was.dead, now.dead),
  ];
}

type Change = { name: string } & Record<'was' | 'now', string | undefined>;

const changes = (was: Record<string, string>, now: Record<string, string>): Change[] =>
  [...new Set([...Object.keys(was), ...Object.keys(now)])]
    .map((name) => ({ name, was: was[name], now: now[name] }))
    .filter((change) => change.was !== change.now);

function tableDifferences(was: TableFacts | null, now: TableFacts | null): ProofDifference[] {
  if (was === null && now === null) return [];
  if (was === null || now === null || was.name !== now.name)
    return [difference('table', now?.name ?? was?.name ?? '', { was: was?.name, now: now?.name })];
  const of = now.name;
  const [before, after] = [was.keys.join('; '), now.keys.join('; ')];
  const triggers = was.triggers === null || now.triggers === null ? [] : changes(was.triggers, now.triggers);
  return [
    ...changes(was.columns, now.columns).map((one) => difference(whatOf(one, 'column_added', 'column_gone', 'column_type'), of, one)),
    ...(before === after ? [] : [difference('keys', of, { was: before, now: after })]),
    ...triggers.map((one) => difference(whatOf(one, 'trigger_added', 'trigger_gone', 'trigger_changed'), of, { name: one.name })),
    ...(was.rewritten === now.rewritten ? [] : [difference('rewritten', of, {})]),
  ];
}

const whatOf = <T>({ was, now }: Change, added: T, gone: T, changed: T): T =>
  was === undefined ? added : now === undefined ? gone : changed;

export function difference(what: ProofDifference['what'], of: string, at: Partial<Change>): ProofDifference {
  return { what, of, name: at.name ?? null, was: at.was ?? null, now: at.now ?? null };
}

const digest = (value: unknown): string => createHash('sha256').update(canonical(value)).digest('hex');

/** JSON with sorted keys, without undefined entries and what parsing added, so that equal facts have equal texts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const entries = Object.entries(value).filter(([key, entry]) => entry !== undefined && !isParsedKind(key, value));
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`).join(',')}}`;
}
