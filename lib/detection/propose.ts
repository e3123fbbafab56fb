/** What to paste for a candidate: a built-in shape with its parameters, or a mapping of its own. */
import type { CatalogueTable } from '@/lib/database/catalogue';
import { tableParts } from '@/lib/shape/schema/names';
import { SHAPES } from '@/lib/shape/catalog.gen';
import type { StatusWord } from '@/lib/shared/detection';
import type { Found } from './candidates';
import type { Look } from './look';
import { proposeMapping, type Mapping } from './mapping';
import { bare, tableText } from './names';
import type { RoleColumns } from './roles';
import { slugOf } from './slug';
import { outboxYaml, type YamlInput } from './yaml';

export interface ProposeOptions {
  /** What the configuration calls the database. */
  database: string;
  /** Ids that are taken. */
  taken: readonly string[];
}

/** The lines for a built-in shape. */
export function shapeYaml({ candidate, fit }: Found, key: string, options: ProposeOptions): string {
  const assumed = fit?.signature.assumed ?? [];
  const maxAttempts = assumed.find(({ name }) => name === 'maxAttempts')?.value;
  const deadTable = otherDeadTable(candidate.companions, key);
  return outboxYaml({
    ...headOf(candidate, options),
    shape: key,
    parameters: {
      ...(typeof maxAttempts === 'number' ? { maxAttempts } : {}),
      ...(deadTable === null ? {} : { deadTable }),
    },
    assumed,
    open: [],
    statusColumn: null,
    numeric: false,
  });
}

/** The lines for a mapping of its own. */
export function mappingYaml(
  found: Found,
  look: Look,
  roles: RoleColumns,
  words: readonly StatusWord[],
  near: readonly CatalogueTable[],
  options: ProposeOptions,
): string {
  const { candidate, table } = found;
  const beside = candidate.companions.find(({ purpose }) => purpose === 'dead')?.table;
  const dead = near.find((other) => tableText(other.name) === beside) ?? null;
  const mapping = proposeMapping({ table, description: look.description, roles, times: look.times, words, dead });
  return outboxYaml({
    ...headOf(candidate, options),
    shape: mapping,
    parameters: zoneless(mapping, look) ? { timeZone: 'UTC' } : {},
    assumed: [],
    open: words.filter((word) => word.state === null),
    statusColumn: roles.status?.name ?? null,
    numeric: roles.status?.kind === 'integer',
  });
}

function headOf({ name }: Found['candidate'], { database, taken }: ProposeOptions): Pick<YamlInput, 'id' | 'name' | 'database' | 'table'> {
  return { id: slugOf(name, taken), name: name.table, database, table: name };
}

/** A dead-letter table that is not called as the shape expects. */
function otherDeadTable(companions: Found['candidate']['companions'], key: string): string | null {
  const usual = SHAPES.find((shape) => shape.key === key)?.dead?.table;
  const dead = companions.filter(({ purpose }) => purpose === 'dead');
  if (usual === undefined || dead.length === 0) return null;
  const own = bare(tableParts(usual).table);
  return dead.some(({ table }) => bare(table.slice(table.indexOf('.') + 1)) === own) ? null : (dead[0]?.table ?? null);
}

/** True where a time of the mapping is kept without its zone, so that somebody has to say which. */
function zoneless({ columns }: Mapping, { description }: Look): boolean {
  return Object.values(columns).some((source) => typeof source === 'string' && description.columns.get(source)?.kind === 'wall_clock');
}
