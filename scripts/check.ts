/** `npm run check`: what to run before every commit, under a minute. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { finish, runStage, type StageResult, stopOnSignals } from './stage-runner';
import { format, gen, lint, types, vitest } from './stages';

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

finish((await Promise.all([line(gen, types, format), line(lint, vitest('unit', 'unit', reports))])).flat());
