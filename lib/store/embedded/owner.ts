import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { identify, isRunning, type ProcessIdentity } from './processes';

/** Says who started the PostgreSQL of a folder, so that a second starter refuses and a crashed one is cleaned up after. */
interface OwnerFile {
  owner: ProcessIdentity;
}

const ownerPath = (dir: string) => path.join(dir, 'owner.json');

/** Thrown when another running process owns the folder. */
export class EmbeddedPostgresInUse extends Error {
  constructor(dir: string, pid: number) {
    super(
      `The PostgreSQL in ${dir} belongs to process ${pid}, which is running. Stop that process first: two on one data folder would be two consoles on one store.`,
    );
    this.name = 'EmbeddedPostgresInUse';
  }
}

/** Takes the folder for `ownerPid`, from a dead owner if need be. Rejects with `EmbeddedPostgresInUse`. */
export async function claim(dir: string, ownerPid: number): Promise<void> {
  const owner = await identify(ownerPid);
  if (!owner) throw new Error(`Process ${ownerPid} cannot own a PostgreSQL: it is not running.`);
  const mine: OwnerFile = { owner };
  for (let attempt = 0; attempt < 5; attempt += 1) {
    if (await placeWhole(dir, JSON.stringify(mine))) return;
    const stale = await read(ownerPath(dir));
    if (stale === null) continue;
    const other = parse(stale);
    if (other && (await isRunning(other.owner))) throw new EmbeddedPostgresInUse(dir, other.owner.pid);
    await setAside(dir, stale);
  }
  throw new Error(`${ownerPath(dir)} keeps changing: several processes are starting PostgreSQL there at once.`);
}

/** Puts the file there in one step, so that nobody reads half of it; false when there is one already. */
async function placeWhole(dir: string, text: string): Promise<boolean> {
  const draft = `${ownerPath(dir)}.${randomUUID()}`;
  await writeFile(draft, text, { mode: 0o600 });
  try {
    await link(draft, ownerPath(dir));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(draft);
  }
}

export async function disclaim(dir: string): Promise<void> {
  await rm(ownerPath(dir), { force: true });
}

/** Removes the file of a dead owner, and only that: a rival may have put its own there since we looked. */
async function setAside(dir: string, stale: string): Promise<void> {
  const aside = `${ownerPath(dir)}.${randomUUID()}`;
  try {
    await rename(ownerPath(dir), aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if ((await read(aside)) === stale) await rm(aside);
  else await rename(aside, ownerPath(dir));
}

async function read(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Null for a file that a crash left half written. */
function parse(text: string): OwnerFile | null {
  try {
    const value = JSON.parse(text) as Partial<OwnerFile>;
    return typeof value.owner?.pid === 'number' ? { owner: { pid: value.owner.pid, startedAt: value.owner.startedAt ?? null } } : null;
  } catch {
    return null;
  }
}
