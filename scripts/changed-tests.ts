/** The database tests that `npm run check` runs: those nearest to what was changed, as many as fit into half a minute. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const DATABASE_TEST = /\.db\.test\.ts$/;
/** What the chosen files may have taken together when they last ran; two run at a time. */
const BUDGET_SECONDS = 40;
/** Of a file that has not run here yet. */
const UNKNOWN_SECONDS = 20;
const VITEST_RESULTS = 'node_modules/.vite/vitest';

export interface ChosenTests {
  run: string[];
  /** They reach what was changed too, and are left to `npm test`. */
  left: string[];
}

/** Paths changed since the branch left its upstream, committed or not; [] in a clean clone. */
export function changedFiles(): string[] {
  const git = (...parameters: string[]): string[] =>
    execFileSync('git', parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')
      .filter(Boolean);
  const base = (): string => {
    try {
      return git('merge-base', 'HEAD', '@{upstream}')[0] ?? 'HEAD';
    } catch {
      return 'HEAD';
    }
  };
  return [...git('diff', '--name-only', base()), ...git('ls-files', '--others', '--exclude-standard')];
}

/**
 * Changed tests first, then those beside a changed file of their name, then those that import one.
 * @param imports what each database test imports of ours, paths without their ending
 * @param seconds what a test took when it last ran
 */
export function chooseTests(
  changed: readonly string[],
  imports: ReadonlyMap<string, readonly string[]>,
  seconds: (file: string) => number,
): ChosenTests {
  const stems = new Set(changed.map((file) => file.replace(/\.tsx?$/, '')));
  const rank = (test: string): number => {
    if (changed.includes(test)) return 0;
    if (stems.has(test.replace(DATABASE_TEST, ''))) return 1;
    return imports.get(test)?.some((file) => stems.has(file)) ? 2 : 3;
  };
  const near = [...imports.keys()].map((test) => ({ test, rank: rank(test) })).filter(({ rank: far }) => far < 3);
  near.sort((a, b) => a.rank - b.rank || seconds(a.test) - seconds(b.test));
  const chosen: ChosenTests = { run: [], left: [] };
  let used = 0;
  for (const { test } of near) {
    used += seconds(test);
    (used <= BUDGET_SECONDS || chosen.run.length === 0 ? chosen.run : chosen.left).push(test);
  }
  return chosen;
}

/** Every database test with what it imports of ours. */
export function databaseTests(): Map<string, string[]> {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.db.test.ts'], { encoding: 'utf8' }).split('\n');
  return new Map(files.filter((file) => fs.existsSync(file)).map((file) => [file, importsOf(file)]));
}

function importsOf(file: string): string[] {
  const specifiers = [...fs.readFileSync(file, 'utf8').matchAll(/from '(@\/|\.{1,2}\/)([^']+)'/g)];
  return specifiers.map(([, start = '', rest = '']) =>
    start === '@/' ? rest : path.posix.normalize(path.posix.join(path.posix.dirname(file), start, rest)),
  );
}

/** How long each database test took when Vitest last ran it on this machine. */
export function lastSeconds(): (file: string) => number {
  const known = new Map<string, number>();
  for (const folder of fs.existsSync(VITEST_RESULTS) ? fs.readdirSync(VITEST_RESULTS) : []) {
    const results = path.join(VITEST_RESULTS, folder, 'results.json');
    if (!fs.existsSync(results)) continue;
    const read = JSON.parse(fs.readFileSync(results, 'utf8')) as { results: [string, { duration: number }][] };
    for (const [name, { duration }] of read.results) known.set(name.replace(/^db:/, ''), duration / 1000);
  }
  return (file) => known.get(file) ?? UNKNOWN_SECONDS;
}
