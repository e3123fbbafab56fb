/** Finds the outboxes among a database's tables: the best fit of each, with companion tables attached to their outbox. */
import type { CatalogueTable } from '@/lib/database/catalogue';
import type { Shape } from '@/lib/shape/shape';
import { CONFIDENCES, type Candidate, type CandidateCompanion, type Caution, type Confidence } from '@/lib/shared/detection';
import { SHAPES } from '@/lib/shape/catalog.gen';
import type { EngineKey } from '@/lib/shared/model';
import { groupBy } from '@/lib/shared/group-by';
import { fitShape, genericFit, type DetectableShape, type GenericFit, type Neighbours, type ShapeFit } from './fit';
import { bare, tableText } from './names';
import { ARCHIVE_NAME, DEAD_NAME } from './words';

export interface Found {
  table: CatalogueTable;
  fit: ShapeFit | null;
  generic: GenericFit | null;
  candidate: Candidate;
}

export interface FindOptions {
  engine: EngineKey;
  /** Ids of configured outboxes by table, as `schema.table`, or `table` for one in the default schema. */
  configured: ReadonlyMap<string, string>;
}

const DETECTABLE = SHAPES.filter((shape): shape is DetectableShape => shape.detect !== undefined);

/** Every table that may be an outbox, most certain first. */
export function findCandidates(tables: readonly CatalogueTable[], options: FindOptions): Found[] {
  const bySchema = groupBy(tables, ({ name }) => name.schema);
  const neighbours: Neighbours = (schema) => bySchema.get(schema) ?? [];
  const found = tables.flatMap((table) => bestOf(table, options, neighbours) ?? []);
  return attached(found, neighbours).sort(byConfidence);
}

const rank = (confidence: Confidence): number => CONFIDENCES.indexOf(confidence);

function byConfidence(a: Found, b: Found): number {
  const [x, y] = [a.candidate, b.candidate];
  return rank(x.confidence) - rank(y.confidence) || y.score - x.score || x.table.localeCompare(y.table);
}

function bestOf(table: CatalogueTable, options: FindOptions, neighbours: Neighbours): Found | null {
  const shapes = DETECTABLE.filter(({ engines }) => engines.includes(options.engine));
  const fits = shapes.flatMap((shape) => fitShape(table, shape, neighbours) ?? []).sort(better);
  const [first] = fits;
  const generic = genericFit(table);
  // A shape that fits by a similar name does not outrank a generic fit with more confidence.
  const fit = first !== undefined && (generic === null || rank(first.confidence) <= rank(generic.confidence)) ? first : null;
  if (fit === null && generic === null) return null;
  const found = { table, fit, generic };
  return { ...found, candidate: candidateOf(found, fits, options) };
}

/** By confidence, then by the number of required columns (more specific), then by score. */
const better = (a: ShapeFit, b: ShapeFit): number =>
  rank(a.confidence) - rank(b.confidence) || b.shape.detect.mustHave.length - a.shape.detect.mustHave.length || b.score - a.score;

type Fitted = Omit<Found, 'candidate'>;

function candidateOf(found: Fitted, fits: ShapeFit[], options: FindOptions): Candidate {
  const { table, fit, generic } = found;
  const text = tableText(table.name);
  return {
    table: text,
    name: table.name,
    shape: fit?.shape.key ?? null,
    label: fit?.shape.label ?? null,
    family: fit?.shape.family ?? 'outbox',
    confidence: fit?.confidence ?? generic?.confidence ?? 'possible',
    score: fit?.score ?? generic?.score ?? 0,
    reasons: fit?.reasons ?? generic?.reasons ?? [],
    cautions: cautionsOf(found, fits),
    companions: (fit?.companions ?? []).map((one) => ({ table: tableText(one.table.name), purpose: one.purpose })),
    alternatives: fits
      .filter((other) => other !== fit)
      .map(({ shape, confidence }) => ({ shape: shape.key, label: shape.label, confidence })),
    estimatedRows: table.estimatedRows,
    counted: false,
    configuredAs: options.configured.get(text) ?? (table.home ? options.configured.get(table.name.table) : undefined) ?? null,
  };
}

function cautionsOf({ table, fit, generic }: Fitted, fits: ShapeFit[]): Caution[] {
  const cautions: Caution[] = [];
  const family = fit?.shape.family ?? 'outbox';
  if (family !== 'outbox') cautions.push({ code: family, values: {} });
  if (!table.readable) cautions.push({ code: 'not_readable', values: {} });
  if (table.rowSecurity) cautions.push({ code: 'row_security', values: {} });
  if (fit !== null && !fit.named) cautions.push({ code: 'other_name', values: { table: table.name.table } });
  const second = fits.find((other) => other !== fit);
  const asSpecific = second?.shape.detect.mustHave.length === fit?.shape.detect.mustHave.length;
  if (second !== undefined && second.confidence === fit?.confidence && asSpecific)
    cautions.push({ code: 'close', values: { shape: second.shape.label } });
  for (const { name, value } of fit === null ? [] : assumedOf(fit.shape))
    cautions.push({ code: 'assumed', values: { parameter: name, value } });
  if (fit === null) cautions.push(...(generic?.cautions ?? []));
  return cautions;
}

/** Parameters set in the relay, which the database does not contain, with the shape's defaults. */
export function assumedOf({ parameters: { maxAttempts, extra } }: Shape): { name: string; value: string | number }[] {
  const own = Object.entries(extra ?? {}).map(([name, { default: value }]) => ({ name, value }));
  return maxAttempts === undefined ? own : [{ name: 'maxAttempts', value: maxAttempts }, ...own];
}

/** Attaches archives and dead-letter tables to their outbox; they are no candidates themselves. */
function attached(found: Found[], neighbours: Neighbours): Found[] {
  const gone = new Set<Found>();
  for (const [schema, candidates] of groupBy(found, ({ table }) => table.name.schema)) {
    const mains = candidates.filter(({ table }) => !isDeadName(table));
    for (const table of neighbours(schema)) {
      const own = candidates.find((one) => one.table === table);
      const place = placeOf(table, own, mains);
      if (place === null) continue;
      add(place.main.candidate, { table: tableText(table.name), purpose: place.purpose });
      if (own !== undefined) gone.add(own);
    }
  }
  return found.filter((one) => !gone.has(one));
}

function add(candidate: Candidate, companion: CandidateCompanion): void {
  const known = candidate.companions.find((one) => one.table === companion.table);
  if (known === undefined) candidate.companions.push(companion);
  else if (known.purpose === 'other') known.purpose = companion.purpose;
}

type Belonging = { main: Found; purpose: CandidateCompanion['purpose'] };

/** The candidate a table belongs to, and its purpose there; null if it belongs to none. `own` is the table's own fit. */
function placeOf(table: CatalogueTable, own: Found | undefined, mains: readonly Found[]): Belonging | null {
  const lists = (main: Found, purpose?: string): boolean =>
    main.fit?.companions.some((one) => one.table === table && (purpose === undefined || one.purpose === purpose)) === true;
  // A table that another shape knows by name stays a candidate itself, unless the outbox reads its dead letters there.
  const itself = (main: Found): boolean => own?.fit?.named === true && own.fit.shape !== main.fit?.shape && !lists(main, 'dead');
  const others = mains.filter((main) => main !== own && !itself(main));
  const archived = others.find((main) => isArchiveOf(main.table, table));
  if (archived !== undefined) return { main: archived, purpose: 'archive' };
  const listing = others.find((main) => lists(main, own?.fit?.named === true ? 'dead' : undefined));
  if (listing !== undefined && own !== undefined) {
    const purpose = listing.fit?.companions.find((one) => one.table === table)?.purpose ?? 'other';
    return { main: listing, purpose: purpose === 'other' && ARCHIVE_NAME.test(bare(table.name.table)) ? 'archive' : purpose };
  }
  const owner = isDeadName(table) ? deadOwner(table, others) : null;
  return owner === null ? null : { main: owner, purpose: 'dead' };
}

function isArchiveOf(main: CatalogueTable, other: CatalogueTable): boolean {
  const [own, name] = [bare(main.name.table), bare(other.name.table)];
  return name.startsWith(own) && name !== own && ARCHIVE_NAME.test(name.slice(own.length));
}

const isDeadName = (table: CatalogueTable): boolean => DEAD_NAME.test(bare(table.name.table));

/** The outbox of a dead-letter table: the one in its name with a quarter of its columns there, then the most similar with half of them. */
function deadOwner(table: CatalogueTable, mains: readonly Found[]): Found | null {
  const name = bare(table.name.table);
  const columns = new Set(table.columns.map((column) => bare(column.name)));
  const share = (main: Found): number =>
    main.table.columns.filter((column) => columns.has(bare(column.name))).length / main.table.columns.length;
  const called = (main: Found): boolean => name.includes(bare(main.table.name.table));
  const related = mains.filter((main) =>
    called(main) ? share(main) >= 0.25 : share(main) >= 0.5 && /event|message|letter|outbox/.test(name),
  );
  const [best] = related.sort((a, b) => Number(called(b)) - Number(called(a)) || share(b) - share(a));
  return best ?? null;
}
