/** `npm run console -- detect <url>`: which outboxes a database holds. Reads only. */
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { Config } from '@/lib/config/config';
import { openDatabase } from '@/lib/database/database';
import { failureOf } from '@/lib/detection/failure';
import { configuredTables, detectAndExamine } from '@/lib/detection/detect';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { detectionText, failureSentence, nextSteps } from './print';

/** Nothing was found; a database that could not be read has another status. */
export const EXIT_NOTHING_FOUND = 3;

const ROWS = 3;
const MOST_ROWS = 20;

interface Options {
  json?: boolean;
  shape?: string;
  schema?: string;
  rows: string;
}

/** What the command needs of the program it belongs to. */
export interface DetectHost {
  configuration: () => Promise<Config>;
  answer: (line: string) => void;
  /** An error that ends the command with this text and status. */
  failure: (message: string, status: 'usage' | 'failed' | 'config') => Error;
}

/** Adds the verb. */
export function addDetect(program: Command, host: DetectHost): void {
  program
    .command('detect')
    .description('find the outboxes in a database, and print what to write into the configuration; changes nothing')
    .argument('<database>', 'connection string, - to read it from standard input, or the id of a database of the configuration')
    .option('--json', 'answer everything as JSON')
    .option('--shape <key>', 'only tables of this built-in shape')
    .option('--schema <name>', 'only this schema')
    .option('--rows <number>', `newest rows to show of each, at most ${String(MOST_ROWS)}`, String(ROWS))
    .action(async (given: string, options: Options) => {
      process.exitCode = await detect(given, options, host);
    });
}

async function detect(given: string, options: Options, host: DetectHost): Promise<number> {
  const rows = Number(options.rows);
  if (!Number.isInteger(rows) || rows < 0 || rows > MOST_ROWS)
    throw host.failure(`--rows: write a whole number from 0 to ${String(MOST_ROWS)}`, 'usage');
  if (options.shape !== undefined && !SHAPES.some(({ key }) => key === options.shape))
    throw host.failure(`--shape: there is no shape ${JSON.stringify(options.shape)}; docs/shapes.md lists them`, 'usage');
  const place = await placeOf(given, host);
  const database = open(place, host);
  try {
    const { detection, examinations } = await detectAndExamine(
      database,
      { schema: options.schema, shape: options.shape, configured: place.configured },
      { database: place.id, taken: place.taken, rows },
    );
    if (options.json === true) host.answer(JSON.stringify({ format: 1, ...detection, candidates: examinations }, null, 2));
    else host.answer([detectionText(detection, examinations), ...nextSteps(examinations, place)].join('\n\n'));
    return examinations.length === 0 ? EXIT_NOTHING_FOUND : 0;
  } catch (error) {
    const failure = failureOf(error);
    // Never the driver's own text: it may hold the connection string.
    if (failure === null) throw error;
    throw host.failure(failureSentence(failure), 'failed');
  } finally {
    await database.close();
  }
}

interface Place {
  id: string;
  url: string;
  /** Of the configuration, so that its login stands there already. */
  known: boolean;
  taken: string[];
  configured: ReadonlyMap<string, string>;
}

async function placeOf(given: string, host: DetectHost): Promise<Place> {
  if (given === '-' || given.includes('://')) {
    const url = given === '-' ? (await text(process.stdin)).trim() : given;
    if (!URL.canParse(url))
      throw host.failure(
        'This is no connection string: write one such as postgresql://user:password@host:5432/name, special characters percent-encoded',
        'usage',
      );
    return { id: idOf(url), url, known: false, taken: [], configured: new Map() };
  }
  const config = await configurationFor(given, host);
  const own = config.databases.find(({ id }) => id === given);
  if (own === undefined)
    throw host.failure(
      `There is no database ${JSON.stringify(given)} in the configuration; known: ${config.databases.map(({ id }) => id).join(', ')}`,
      'usage',
    );
  return {
    id: own.id,
    url: own.url,
    known: true,
    taken: config.outboxes.map(({ id }) => id),
    configured: configuredTables(config, own.id),
  };
}

/** A word that is no connection string is the id of a database, which only a configuration can know. */
async function configurationFor(given: string, host: DetectHost): Promise<Config> {
  try {
    return await host.configuration();
  } catch {
    throw host.failure(
      `${JSON.stringify(given)} is taken for a database of the configuration; a connection string begins with postgresql:// or mysql://`,
      'config',
    );
  }
}

function open({ id, url }: Place, host: DetectHost): ReturnType<typeof openDatabase> {
  try {
    return openDatabase({ id, url, readAs: 'detect' });
  } catch (error) {
    throw host.failure(failureOf(error)?.detail ?? 'This connection string cannot be used', 'usage');
  }
}

/** A slug after the name of the database. */
function idOf(url: string): string {
  const name = decodeURIComponent(new URL(url).pathname.slice(1)).toLowerCase();
  return (
    name
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 40) || 'main'
  );
}
