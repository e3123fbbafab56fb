/**
 * `npm test`: every test there is. `npm test -- unit database` runs the named stages only. The last line is
 * `N passed, N failed`; types, lint, formatting, generated files and the build count as one test each.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { failedStage, finish, runStage, type Stage, type StageResult, stopOnSignals } from './stage-runner';
import { browser, build, format, gen, lint, types, vitest } from './stages';
import { ensureChromium } from './testing/chromium';
import { ensureMariadb } from './testing/mariadb-binaries';

const reports = fs.mkdtempSync(path.join(os.tmpdir(), 'outbox-console-reports-'));
process.on('exit', () => {
  fs.rmSync(reports, { recursive: true, force: true });
});
stopOnSignals();

const stages = {
  generated: () => runStage(gen),
  types: () => runStage(types),
  lint: () => runStage(lint),
  format: () => runStage(format),
  unit: () => runStage(vitest('unit', 'unit', reports)),
  database: () => withMariadb(vitest('database', 'db', reports)),
  race: () => withMariadb(vitest('race', 'race', reports)),
  build: () => runStage(build),
  browser: runBrowser,
} satisfies Record<string, () => Promise<StageResult>>;
type StageName = keyof typeof stages;

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in stages));
if (unknown.length > 0) {
  console.error(`No stage ${unknown.join(', ')}. Stages: ${Object.keys(stages).join(', ')}`);
  process.exit(2);
}

const results: StageResult[] = [];

/** Runs stages one after the other, in the order given, those that were asked for. */
async function line(...names: StageName[]): Promise<void> {
  for (const name of names) {
    if (asked.length === 0 || asked.includes(name)) results.push(await stages[name]());
  }
}

/** Both engines or nothing: what a machine lacks is got before the first test, or named. */
async function withMariadb(stage: Stage): Promise<StageResult> {
  try {
    ensureMariadb();
  } catch (error) {
    return failedStage(stage.name, error instanceof Error ? error.message : String(error));
  }
  return runStage(stage);
}

async function runBrowser(): Promise<StageResult> {
  if (results.some((result) => result.name === 'build' && result.failed > 0)) return failedStage('browser', 'the build failed');
  try {
    return await runStage(browser(ensureChromium(), reports));
  } catch (error) {
    return failedStage('browser', error instanceof Error ? error.message : String(error));
  }
}

// Two lines at a time for two cores. The races come alone: their clocks are short, and the browser tests' too.
await line('generated');
await Promise.all([line('types', 'lint', 'format', 'build'), line('unit', 'database')]);
await line('race', 'browser');
finish(results);
