/**
 * Where the servers of the tests keep their data. A run makes and drops thousands of tables, and every one of them is
 * files: in memory, where the machine has plenty, that is a third of the time.
 */
import { mkdtempSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const IN_MEMORY = '/dev/shm';
/** What the servers of one run keep at most is a tenth of it; a container's usual 64 MB are none. */
const ROOM = 4 * 2 ** 30;

/** Makes a new folder for a server's data, in memory if the machine has 4 GiB of it to spare, otherwise below the temporary folder. */
export function makeDataFolder(prefix: string): string {
  return mkdtempSync(path.join(hasRoom() ? IN_MEMORY : os.tmpdir(), prefix));
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ROOM && process.availableMemory() >= ROOM;
  } catch {
    return false;
  }
}
