/** Another console, as a process of its own: what became of a key is asked by `lookAs`, and answered on its standard output. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { unsettledLog } from '@/lib/audit/unsettled-log';
import { openDatabase } from '@/lib/database/database';
import { findByKey } from '@/lib/interventions/find-intervention';
import { ANNA, depsFor } from '@/fixtures/interventions';
import { bindOutbox } from '@/lib/outbox/bind';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import type { InterventionResult } from '@/lib/shared/model';
import { openStore } from '@/lib/store/store';
import { settingsFor } from './outbox';

interface Question {
  url: string;
  operatorUrl: string;
  storeUrl: string;
  key: string;
}

const FILE = fileURLToPath(import.meta.url);
const READY = 'ready\n';

/** What a second process over the same store and database says of Anna's key on the sample of worker-status. */
export const lookAs = async (question: Question): Promise<InterventionResult | null> => (await startLook(question))();

/** The same process, started: it looks when it is called, without the seconds that a process takes to begin. */
export async function startLook(question: Question): Promise<() => Promise<InterventionResult | null>> {
  const running = promisify(execFile)(process.execPath, ['--import', 'tsx', FILE, JSON.stringify(question)], {
    cwd: path.resolve(import.meta.dirname, '../..'),
  });
  const { stdin, stdout } = running.child;
  if (stdin === null || stdout === null) throw new Error('it was started without its pipes');
  await Promise.race([once(stdout, 'data'), running]);
  return async () => {
    stdin.end();
    const answered = await running;
    return JSON.parse(answered.stdout.slice(READY.length)) as InterventionResult | null;
  };
}

async function answer({ url, operatorUrl, storeUrl, key }: Question): Promise<void> {
  const database = openDatabase({ id: 'test', url, operatorUrl });
  const store = openStore(storeUrl);
  try {
    const outbox = await bindOutbox(settingsFor(workerStatus), database);
    const unsettled = unsettledLog(store, (error) => process.stderr.write(String(error)));
    const found = await findByKey({ ...depsFor(outbox), unsettled }, { outbox: outbox.id, actor: ANNA, key });
    process.stdout.write(JSON.stringify(found));
  } finally {
    await Promise.all([database.close(), store.close()]);
  }
}

if (process.argv[1] === FILE) {
  process.stdout.write(READY);
  await once(process.stdin.resume(), 'end');
  await answer(JSON.parse(process.argv[2] ?? '') as Question);
}
