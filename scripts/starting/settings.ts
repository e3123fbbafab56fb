/** What starter and command line both need before they can do anything: environment and configuration, checked. */
import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config, UsablePart } from '@/lib/config/config';
import { directoryOptions, createDirectory } from '@/lib/outbox/directory';
import { SUPPORTED, loadConfig } from '@/lib/config/load';
import { environmentValue, readEnvironment, type Environment } from '@/lib/env';
import { mappingErrors } from '@/lib/outbox/mapping/mapping-errors';

/** Problems of the setting up: the process ends with EX_CONFIG of sysexits.h. */
export const EXIT_CONFIG = 78;

export interface Settings {
  env: Environment | null;
  config: Config | null;
  /** What nothing is said against: all of `config`, or what is left of one with problems. */
  usable: UsablePart | null;
  problems: string[];
}

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The base path the console was built for; null where it is not built. */
export async function builtBasePath(): Promise<string | null> {
  const folder = path.resolve(ROOT, process.env.OUTBOX_CONSOLE_DIST_DIR ?? '.next');
  try {
    await access(path.join(folder, 'BUILD_ID'));
    return (JSON.parse(await readFile(path.join(folder, 'routes-manifest.json'), 'utf8')) as { basePath: string }).basePath;
  } catch {
    return null;
  }
}

/** Reads both; every problem of either is in the list. An environment that names no base path means the one that was built. */
export async function readSettings(): Promise<Settings> {
  process.env.OUTBOX_CONSOLE_BASE_PATH ||= (await builtBasePath()) ?? '';
  const environment = readEnvironment();
  const problems = environment.ok ? [] : [...environment.problems];
  const file = environment.ok ? environment.env.configPath : (process.env.OUTBOX_CONSOLE_CONFIG ?? './outbox-console.yaml');
  const reading = await loadConfig(file, SUPPORTED, environmentValue);
  if (!reading.ok) problems.push(...reading.problems);
  return {
    env: environment.ok ? environment.env : null,
    config: reading.ok ? reading.config : null,
    usable: reading.ok ? { config: reading.config, places: reading.config.outboxes.map((_, place) => place) } : reading.usable,
    problems,
  };
}

/** What the tables say against the mappings, a line per problem; nothing where a database does not answer. */
export async function tableProblems({ config, places }: UsablePart): Promise<string[]> {
  const directory = createDirectory(directoryOptions(config));
  try {
    return await mappingErrors(directory, (id) => places[directory.ids.indexOf(id)] ?? 0);
  } finally {
    await directory.close();
  }
}

const WAY_OUT =
  'An outbox that is left out (its lines commented) keeps no other from starting. npm run console -- detect <database> proposes lines that fit a table.';

/** Every problem on a line of its own on standard error, below `what` they are problems of. */
export function reportProblems(problems: readonly string[], what = 'Outbox Console cannot start'): void {
  const count = problems.length === 1 ? '1 problem' : `${String(problems.length)} problems`;
  const wayOut = problems.some((line) => line.startsWith('outboxes[')) ? `${WAY_OUT}\n` : '';
  process.stderr.write(`${what}: ${count}\n${problems.map((problem) => `  ${problem}`).join('\n')}\n${wayOut}`);
}
