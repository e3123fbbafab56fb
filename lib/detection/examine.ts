/** One candidate looked at closely: its mapping, rows read through it, and what to paste. Nothing is written anywhere. */
import type { CatalogueTable } from '@/lib/database/catalogue';
import type { Database } from '@/lib/database/database';
import type { Candidate, Caution, DetectionFailure, Examination, StatusWord } from '@/lib/shared/detection';
import type { LiveState } from '@/lib/shared/states';
import type { Found } from './candidates';
import { failureOf } from './failure';
import { lookAt, type Look } from './look';
import { mappingYaml, shapeYaml, type ProposeOptions } from './propose';
import { rolesOf } from './roles';
import { readThrough } from './sample';
import { proposeWords } from './status-words';

export interface ExamineOptions extends ProposeOptions {
  /** Rows to show, at most. */
  rows: number;
  /** What a person has said words of the status column mean; null for one that stays unmapped. */
  confirmed: Readonly<Record<string, LiveState | null>>;
}

/**
 * Looks at a candidate: a bounded look at its columns, then at most 200 of its newest rows through the proposed mapping.
 * What stands in the way of reading it is told in `problem`; throws only what is a fault of the console.
 */
export async function examine(
  database: Database,
  found: Found,
  near: readonly CatalogueTable[],
  options: ExamineOptions,
): Promise<Examination> {
  const { candidate, generic, table } = found;
  const asShape = candidate.shape === null ? null : await tried(database, candidate, shapeYaml(found, candidate.shape, options), options);
  // The columns of a plain layout with other words in them: the layout is somebody else's.
  if (asShape !== null && (generic === null || candidate.confidence === 'certain' || !mostlyUnmapped(asShape))) return asShape;
  const roles = generic?.roles ?? rolesOf(table);
  const look = await looked(database, found, roles);
  if ('code' in look) return { candidate, roles: [], status: null, sample: null, problem: look, yaml: '' };
  const words = withConfirmed(proposeWords(look.words), options.confirmed);
  const own = asShape === null ? candidate : withoutShape(candidate);
  const examined = await tried(database, own, mappingYaml(found, look, roles, words, near, options), options);
  const status = roles.status === undefined ? null : { column: roles.status.name, words, complete: look.complete };
  return {
    ...examined,
    status,
    candidate: {
      ...own,
      cautions: [...own.cautions, ...cautionsOf(examined, look, words, roles.status !== undefined && words.length === 0)],
    },
  };
}

const mostlyUnmapped = ({ sample }: Examination): boolean => sample !== null && sample.looked > 0 && sample.unmapped * 2 > sample.looked;

async function tried(database: Database, candidate: Candidate, yaml: string, { rows }: ExamineOptions): Promise<Examination> {
  const base = { candidate, roles: [], status: null, sample: null, problem: null, yaml };
  try {
    return { ...base, ...(await readThrough(database, yaml, rows)) };
  } catch (error) {
    return { ...base, problem: told(error) };
  }
}

async function looked(database: Database, { candidate }: Found, roles: Parameters<typeof lookAt>[2]): Promise<Look | DetectionFailure> {
  try {
    return (await lookAt(database, candidate.name, roles)) ?? { code: 'missing', detail: null };
  } catch (error) {
    return told(error);
  }
}

/** Expected failures as they are told; anything else is a fault of ours and goes its own way. */
function told(error: unknown): DetectionFailure {
  const failure = failureOf(error);
  if (failure === null) throw error;
  return failure;
}

function withConfirmed(words: StatusWord[], said: ExamineOptions['confirmed']): StatusWord[] {
  return words.map((word) => {
    const state = Object.hasOwn(said, word.word) ? said[word.word] : undefined;
    return state === undefined ? word : { ...word, state, sure: true };
  });
}

function withoutShape(candidate: Candidate): Candidate {
  const caution: Caution = { code: 'other_words', values: { shape: candidate.label ?? '' } };
  return {
    ...candidate,
    shape: null,
    label: null,
    confidence: 'possible',
    cautions: [...candidate.cautions.filter(({ code }) => code !== 'assumed'), caution],
  };
}

function cautionsOf({ roles }: Examination, { description }: Look, words: readonly StatusWord[], asked: boolean): Caution[] {
  const cautions: Caution[] = [];
  if (asked || words.some((word) => !word.sure)) cautions.push({ code: 'words_to_confirm', values: {} });
  if (!description.indexes.some((index) => index.unique && index.predicate === null)) cautions.push({ code: 'no_key', values: {} });
  if (roles.length > 0 && !roles.some(({ role }) => role === 'createdAt')) cautions.push({ code: 'no_created_at', values: {} });
  const times = [...description.columns.values()].filter(
    ({ name, kind }) => kind === 'wall_clock' && roles.some(({ column }) => column === name),
  );
  if (times.length > 0) cautions.push({ code: 'time_zone', values: { columns: times.map(({ name }) => name).join(', ') } });
  return cautions;
}
