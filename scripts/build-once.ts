/**
 * The build of the tests: as `npm run build`, but only when the sources have changed since the last one, and noted so
 * that the demo does not build again.
 */
import os from 'node:os';
import path from 'node:path';
import { rmSync } from 'node:fs';
import { ensureBuilt } from '@/demo/start/build';

const root = path.resolve(import.meta.dirname, '..');
const logFile = path.join(os.tmpdir(), `outbox-console-build-${String(process.pid)}.log`);
process.on('exit', () => {
  rmSync(logFile, { force: true });
});

const built = await ensureBuilt({
  root,
  logFile,
  started: (child) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        child.signal('SIGTERM');
        process.exit(1);
      });
    }
  },
});
console.log(built ? 'built' : 'built before from the same sources');
