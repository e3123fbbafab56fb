/** `npm run check`: what to run before every commit, under two minutes. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { changedFiles, chooseTests, databaseTests, lastSeconds } from './changed-tests';
import { failedStage, finish, runStage, type StageResult, stopOnSignals } from './stage-runner';
import { format, gen, lint, types, vitest } from './stages';
import { ensureMariadb } from './testing/mariadb-binaries';

const reports = fs.mkdtempSync(path.join(os.tmpdir(), 'outbox-console-reports-'));
process.on('exit', () => {
  fs.rmSync(reports, { recursive: true, force: true });
});
stopOnSignals();

async function line(...stages: Parameters<typeof runStage>[0][]): Promise<StageResult[]> {
  const results: StageResult[] = [];
  for (const stage of stages) results.push(await runStage(stage));
  return results;
}

/** Those of what was changed; what takes too long is named. */
async function database(): Promise<StageResult[]> {
  const { run, left } = chooseTests(changedFiles(), databaseTests(), lastSeconds());
  if (left.length > 0) console.log(`  left to npm test: ${left.join(', ')}`);
  if (run.length === 0) return [];
  try {
    ensureMariadb();
  } catch (error) {
    return [failedStage('database', error instanceof Error ? error.message : String(error))];
  }
  return line(vitest('database', 'db', reports, run));
}

const [first, second] = await Promise.all([line(gen, types, format), line(lint, vitest('unit', 'unit', reports))]);
finish([...first, ...second, ...(await database())]);
