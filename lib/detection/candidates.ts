/** Which tables of a database are outboxes: the best fit of each, companions put beside what they belong to. */
import type { CatalogueTable } from '@/lib/database/catalogue';
import { CONFIDENCES, type Candidate, type CandidateCompanion, type Caution, type Confidence } from '@/lib/shared/detection';
import type { EngineKey } from '@/lib/shared/model';
import { ARCHIVE_NAME, DEAD_NAME } from './dictionary';
import { genericFit, type GenericFit } from './generic';
import { fitShape, type Neighbours, type ShapeFit } from './match-shape';
import { bare, tableText } from './names';
import type { ShapeSignature } from './signature';

/** A candidate with what it was found by, for looking at it closely. */
export interface Found {
  table: CatalogueTable;
  fit: ShapeFit | null;
  generic: GenericFit | null;
  candidate: Candidate;
}

export interface FindOptions {
  engine: EngineKey;
  signatures: readonly ShapeSignature[];
  /** Ids of the outboxes the configuration has, by table as `schema.table`, or `table` for one in the default schema. */
  configured: ReadonlyMap<string, string>;
  /** null where names are looked up in the database of the connection. */
  defaultSchema: string | null;
}

/** Every table that may be an outbox, most certain first. */
export function findCandidates(tables: readonly CatalogueTable[], options: FindOptions): Found[] {
  const bySchema = new Map<string, CatalogueTable[]>();
  for (const table of tables) bySchema.set(table.name.schema, [...(bySchema.get(table.name.schema) ?? []), table]);
  const neighbours: Neighbours = (schema) => bySchema.get(schema) ?? [];
  const found = tables.flatMap((table) => {
    const best = bestOf(table, options, neighbours);
    return best === null ? [] : [best];
  });
  return attached(found, neighbours).sort(byConfidence);
}

const rank = (confidence: Confidence): number => CONFIDENCES.indexOf(confidence);

function byConfidence(a: Found, b: Found): number {
  const [x, y] = [a.candidate, b.candidate];
  return rank(x.confidence) - rank(y.confidence) || y.score - x.score || x.table.localeCompare(y.table);
}

function bestOf(table: CatalogueTable, options: FindOptions, neighbours: Neighbours): Found | null {
  const fits = options.signatures.flatMap((signature) => fitShape(table, signature, options.engine, neighbours) ?? []).sort(better);
  const [first] = fits;
  const generic = genericFit(table);
  // A layout met by a look-alike name weighs no more than a table made by hand that says more for itself.
  const fit = first !== undefined && (generic === null || rank(first.confidence) <= rank(generic.confidence)) ? first : null;
  if (fit === null && generic === null) return null;
  return { table, fit, generic, candidate: candidateOf(table, fit, fits, generic, options) };
}

/** The one that asks for more columns is the more exact one; then what else speaks for it. */
function better(a: ShapeFit, b: ShapeFit): number {
  return rank(a.confidence) - rank(b.confidence) || b.signature.mustHave.length - a.signature.mustHave.length || b.score - a.score;
}

function candidateOf(
  table: CatalogueTable,
  fit: ShapeFit | null,
  fits: ShapeFit[],
  generic: GenericFit | null,
  options: FindOptions,
): Candidate {
  const text = tableText(table.name);
  const inDefault = options.defaultSchema === null || table.name.schema === options.defaultSchema;
  return {
    table: text,
    name: table.name,
    shape: fit?.signature.key ?? null,
    label: fit?.signature.label ?? null,
    family: fit?.signature.family ?? 'outbox',
    confidence: fit?.confidence ?? generic?.confidence ?? 'possible',
    score: fit?.score ?? generic?.score ?? 0,
    reasons: fit?.reasons ?? generic?.reasons ?? [],
    cautions: cautionsOf(table, fit, fits, generic),
    companions: (fit?.companions ?? []).map((one) => ({ table: tableText(one.table.name), purpose: one.purpose })),
    alternatives: fits
      .filter((other) => other !== fit)
      .map(({ signature, confidence }) => ({ shape: signature.key, label: signature.label, confidence })),
    estimatedRows: table.estimatedRows,
    configuredAs: options.configured.get(text) ?? (inDefault ? options.configured.get(table.name.table) : undefined) ?? null,
  };
}

function cautionsOf(table: CatalogueTable, fit: ShapeFit | null, fits: ShapeFit[], generic: GenericFit | null): Caution[] {
  const cautions: Caution[] = [];
  const family = fit?.signature.family ?? 'outbox';
  if (family !== 'outbox') cautions.push({ code: family, values: {} });
  if (!table.readable) cautions.push({ code: 'not_readable', values: {} });
  if (table.rowSecurity) cautions.push({ code: 'row_security', values: {} });
  if (fit !== null && !fit.named) cautions.push({ code: 'other_name', values: { table: table.name.table } });
  const second = fits.find((other) => other !== fit);
  if (
    fit !== null &&
    second !== undefined &&
    second.confidence === fit.confidence &&
    second.signature.mustHave.length === fit.signature.mustHave.length
  )
    cautions.push({ code: 'close', values: { shape: second.signature.label } });
  for (const { name, value } of fit?.signature.assumed ?? []) cautions.push({ code: 'assumed', values: { parameter: name, value } });
  if (fit === null) cautions.push(...(generic?.cautions ?? []));
  return cautions;
}

/** Archives and dead-letter tables stand beside their outbox and are no candidates of their own. */
function attached(found: Found[], neighbours: Neighbours): Found[] {
  const gone = new Set<Found>();
  const bySchema = new Map<string, Found[]>();
  for (const one of found) bySchema.set(one.table.name.schema, [...(bySchema.get(one.table.name.schema) ?? []), one]);
  for (const [schema, candidates] of bySchema) {
    const mains = candidates.filter(({ table }) => !isDeadName(table));
    for (const main of mains) {
      const alone = mains.length === 1;
      for (const other of candidates) {
        if (other === main || gone.has(main)) continue;
        const purpose = purposeBeside(main, other, alone);
        if (purpose === null) continue;
        gone.add(other);
        add(main.candidate, { table: other.candidate.table, purpose });
      }
      if (main.fit === null) for (const table of neighbours(schema)) attachByName(main, table, alone);
    }
  }
  return found.filter((one) => !gone.has(one));
}

function add(candidate: Candidate, companion: CandidateCompanion): void {
  const known = candidate.companions.find((one) => one.table === companion.table);
  if (known === undefined) candidate.companions.push(companion);
  else if (known.purpose === 'other') known.purpose = companion.purpose;
}

/** What another candidate is to this one, when it is no outbox of its own; null when it is one. */
function purposeBeside(main: Found, other: Found, alone: boolean): CandidateCompanion['purpose'] | null {
  const listed = main.fit?.companions.find((one) => one.table === other.table);
  // A shape that knows this table by name has a mapping of its own for it.
  if (other.fit?.named === true && other.fit.signature.key !== main.fit?.signature.key) return null;
  if (isArchiveOf(main.table, other.table)) return 'archive';
  if (listed !== undefined && other.fit?.named !== true)
    return listed.purpose === 'other' && ARCHIVE_NAME.test(bare(other.table.name.table)) ? 'archive' : listed.purpose;
  return isDeadBeside(main, other.table, alone) ? 'dead' : null;
}

function attachByName(main: Found, table: CatalogueTable, alone: boolean): void {
  if (table === main.table) return;
  if (isDeadBeside(main, table, alone)) add(main.candidate, { table: tableText(table.name), purpose: 'dead' });
  else if (isArchiveOf(main.table, table)) add(main.candidate, { table: tableText(table.name), purpose: 'archive' });
}

function isArchiveOf(main: CatalogueTable, other: CatalogueTable): boolean {
  const [own, name] = [bare(main.name.table), bare(other.name.table)];
  return name.startsWith(own) && name !== own && ARCHIVE_NAME.test(name.slice(own.length));
}

const isDeadName = (table: CatalogueTable): boolean => DEAD_NAME.test(bare(table.name.table));

/** A dead-letter table of this outbox: it is called after it, or there is no other, and it holds most of its columns. */
function isDeadBeside(main: Found, table: CatalogueTable, alone: boolean): boolean {
  const [own, name] = [bare(main.table.name.table), bare(table.name.table)];
  if (name === own || !isDeadName(table)) return false;
  const columns = new Set(table.columns.map((column) => bare(column.name)));
  const shared = main.table.columns.filter((column) => columns.has(bare(column.name))).length;
  return (name.includes(own) || (alone && /event|message|letter|outbox/.test(name))) && shared * 2 >= main.table.columns.length;
}
