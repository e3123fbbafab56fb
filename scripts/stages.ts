/** What `npm test` and `npm run check` consist of. */
import fs from 'node:fs';
import path from 'node:path';
import type { Counts, Stage } from './stage-runner';

const bin = (name: string): string => path.join('node_modules', '.bin', name);
/**
 * Compilers and linters print nothing until they are done: at a load of eight they take some five times what they take alone. The
 * tests print a line for each that ends, and none of them takes as long.
 */
const silentSeconds = 25 * 60;

/** Stages without a report of their own count as one test each. */
export const gen: Stage = { name: 'generated', commands: [[bin('tsx'), 'scripts/gen.ts', '--check']], silentSeconds };
export const types: Stage = {
  name: 'types',
  // The types of the routes come first: a fresh clone has no next-env.d.ts.
  commands: [
    [bin('next'), 'typegen'],
    [bin('tsc'), '--noEmit'],
  ],
  silentSeconds,
};
export const lint: Stage = {
  name: 'lint',
  commands: [[bin('eslint'), '.', '--max-warnings', '0', '--cache', '--cache-location', '.next/cache/eslint/']],
  silentSeconds,
};
export const format: Stage = {
  name: 'format',
  commands: [[bin('prettier'), '--check', '--cache', '--cache-location', '.next/cache/prettier', '--log-level', 'warn', '.']],
  silentSeconds,
};
export const build: Stage = { name: 'build', commands: [[bin('tsx'), 'scripts/build-once.ts']], silentSeconds };

/** A Vitest project, or those of its files, counted from its JSON report in `reports`. */
export function vitest(name: string, project: string, reports: string, files: readonly string[] = []): Stage {
  const report = path.join(reports, `${project}.json`);
  return {
    name,
    commands: [
      [bin('vitest'), 'run', '--project', project, '--reporter=verbose', '--reporter=json', `--outputFile.json=${report}`, ...files],
    ],
    count: () => countVitest(report),
    silentSeconds,
  };
}

/** The browser stories, counted from Playwright's JSON report in `reports`. */
export function browser(chromium: string, reports: string): Stage {
  const report = path.join(reports, 'browser.json');
  return {
    name: 'browser',
    commands: [[bin('playwright'), 'test', '--reporter=list,json']],
    env: { CHROMIUM_PATH: chromium, PLAYWRIGHT_JSON_OUTPUT_FILE: report },
    count: () => countPlaywright(report),
    silentSeconds,
  };
}

interface VitestReport {
  numPassedTests: number;
  numTotalTests: number;
  testResults: { assertionResults: { status: string; failureMessages: string[] }[] }[];
}

/** Skipped and pending tests count as failed: nothing is skipped silently. A passed test with failures passed when tried again. */
export function countVitest(file: string): Counts | null {
  const report = readReport<VitestReport>(file);
  if (report === null) return null;
  const { numPassedTests, numTotalTests, testResults } = report;
  const again = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0).length;
  return { passed: numPassedTests - again, again, failed: numTotalTests - numPassedTests };
}

/** A skipped test counts as failed. */
export function countPlaywright(file: string): Counts | null {
  const report = readReport<{ stats: { expected: number; unexpected: number; flaky: number; skipped: number } }>(file);
  if (!report) return null;
  const { expected, unexpected, flaky, skipped } = report.stats;
  return { passed: expected, again: flaky, failed: unexpected + skipped };
}

function readReport<T>(file: string): T | null {
  if (!fs.existsSync(file)) return null;
  return JSON.parse(fs.readFileSync(file, 'utf8')) as T;
}
