/** One table against one built-in shape: reference rules of name, columns, types and companions. */
import type { CatalogueTable } from '@/lib/database/catalogue';
import type { Confidence, Reason } from '@/lib/shared/detection';
import type { EngineKey } from '@/lib/shared/model';
import { namedLikeOutbox } from './generic';
import { bare, folded } from './names';
import { isCommonName } from './roles';
import type { ShapeSignature } from './signature';

/** Weights of what speaks for a shape; they add up to one. */
const WEIGHT = { columns: 0.45, name: 0.35, companion: 0.15, schema: 0.05 };
/** Columns that nobody else calls so: with this many of them a table may be called what it likes. */
const TELLING_COLUMNS = 4;
/** So many columns do not all meet by chance, common as each of them may be. */
const MANY_COLUMNS = 10;
/** Where the name is only like an outbox's, the shape has to account for this share of the table. */
const COVERED_SHARE = 0.6;

export interface ShapeFit {
  signature: ShapeSignature;
  confidence: Confidence;
  score: number;
  named: boolean;
  companions: { table: CatalogueTable; purpose: 'dead' | 'archive' | 'other' }[];
  reasons: Reason[];
}

/** The tables of a database by schema, for companions. */
export type Neighbours = (schema: string) => readonly CatalogueTable[];

/** How a table fits a shape; null when it does not. */
export function fitShape(table: CatalogueTable, signature: ShapeSignature, engine: EngineKey, neighbours: Neighbours): ShapeFit | null {
  if (!signature.engines.includes(engine)) return null;
  const spell = signature.underscoreless ? bare : folded;
  const columns = new Map(table.columns.map((column) => [spell(column.name), column]));
  const has = (name: string): boolean => columns.has(spell(name));
  if (!signature.mustHave.every(has) || signature.mustNotHave.some(has)) return null;
  const typed = Object.entries(signature.types).every(([name, type]) => typeFits(columns.get(spell(name))?.type, type));
  const captured = capturedBy(table.name.table, signature);
  const named = captured !== null;
  const signed =
    signature.signature.length > 0 &&
    signature.signature.every((name) => has(name) || table.columns.some(({ type }) => bare(type) === bare(name)));
  const share = signature.mustHave.length / Math.max(1, table.columns.length);
  const telling = signature.mustHave.filter((name) => !isCommonName(name)).length;
  const confidence = confidenceOf({
    signed,
    named,
    typed,
    telling,
    many: signature.mustHave.length,
    like: namedLikeOutbox(table) && share >= COVERED_SHARE,
  });
  if (confidence === null) return null;
  const companions = companionsOf(table, signature, captured ?? {}, neighbours);
  const inSchema = signature.schema !== null && folded(signature.schema) === folded(table.name.schema);
  const score =
    WEIGHT.columns * Math.min(1, share) +
    (named ? WEIGHT.name : 0) +
    (companions.length > 0 ? WEIGHT.companion : 0) +
    (inSchema ? WEIGHT.schema : 0);
  const reasons: Reason[] = [{ code: 'columns', values: { count: signature.mustHave.length } }];
  if (signed) reasons.push({ code: 'signature', values: { columns: signature.signature.join(', ') } });
  if (named) reasons.push({ code: 'name', values: { table: table.name.table } });
  if (companions.length > 0)
    reasons.push({ code: 'companions', values: { tables: companions.map((one) => one.table.name.table).join(', ') } });
  if (inSchema) reasons.push({ code: 'schema', values: { schema: table.name.schema } });
  return { signature, confidence, score: Math.round(score * 100) / 100, named, companions, reasons };
}

interface Evidence {
  signed: boolean;
  named: boolean;
  typed: boolean;
  telling: number;
  many: number;
  like: boolean;
}

/** Types only lower it: JSON is `longtext` on MariaDB. */
function confidenceOf({ signed, named, typed, telling, many, like }: Evidence): Confidence | null {
  if (signed) return typed || named ? 'certain' : 'likely';
  if (named) return typed ? 'likely' : 'possible';
  if (telling >= TELLING_COLUMNS || many >= MANY_COLUMNS) return typed ? 'likely' : 'possible';
  return like ? 'possible' : null;
}

/** What the pattern captures of the name, empty when the name fits without one; null when it does not fit. */
export function capturedBy(name: string, signature: ShapeSignature): Record<string, string> | null {
  const captured = signature.pattern === null ? null : new RegExp(signature.pattern, 'iu').exec(name);
  if (captured !== null) return { ...captured.groups };
  return signature.names.some((one) => bare(one) === bare(name)) ? {} : null;
}

/** `timestamp` fits `timestamp without time zone`; `json` fits what servers without it keep it in. */
function typeFits(actual: string | undefined, expected: string): boolean {
  if (actual === undefined) return true;
  const [is, want] = [folded(actual), folded(expected)];
  if (is.startsWith(want) || is.includes(want)) return true;
  const same: Record<string, RegExp> = {
    bool: /^(bool|tinyint\(1\)|bit\(1\))/, boolean: /^(bool|tinyint\(1\)|bit\(1\))/, json: /^(json|longtext|text)/, jsonb: /^(json|longtext|text)/,
    int: /int/, integer: /int/, text: /^(text|longtext|mediumtext|character varying|varchar)/, bytea: /^(bytea|.*blob|.*binary)/, enum: /./,
    varchar: /^character varying/, timestamptz: /^timestamp/, smallint: /^(smallint|tinyint)/, tinyint: /^(smallint|tinyint)/,
  }; // prettier-ignore
  return same[want]?.test(is) ?? false;
}

function companionsOf(
  table: CatalogueTable,
  signature: ShapeSignature,
  captured: Record<string, string>,
  neighbours: Neighbours,
): ShapeFit['companions'] {
  const near = neighbours(table.name.schema);
  const found: ShapeFit['companions'] = [];
  for (const { name, purpose } of signature.companions) {
    const wanted = companionPattern(name, captured);
    for (const other of near) {
      if (other !== table && wanted.test(bare(other.name.table)) && !found.some((one) => one.table === other))
        found.push({ table: other, purpose });
    }
  }
  return found;
}

function companionPattern(name: string, captured: Record<string, string>): RegExp {
  const filled = name.replace(/\{(\w+)\}/g, (_, group: string) => captured[group] ?? '*');
  const parts = filled.split('*').map((part) => bare(part).replace(/[$^()[\]{}|+?\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 'u');
}
