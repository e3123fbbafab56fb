import { randomBytes, randomUUID } from 'node:crypto';
import { chown, link, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Binaries } from './binaries';
import { type Account, identify, ifThere, isRunning, type ProcessIdentity, readIfThere, run } from './processes';

/** Names the process that started the folder's PostgreSQL: a second one refuses to start, and one after a crash cleans up. */
const ownerPath = (dir: string) => path.join(dir, 'owner.json');

export class EmbeddedPostgresInUse extends Error {
  override readonly name = 'EmbeddedPostgresInUse';
}

/** Takes the folder for `ownerPid`, also from a dead owner. Rejects with `EmbeddedPostgresInUse`. */
export async function claim(dir: string, ownerPid: number): Promise<void> {
  const owner = await identify(ownerPid);
  if (!owner) throw new Error(`Process ${ownerPid} cannot own a PostgreSQL: it is not running.`);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    if (await placeWhole(dir, JSON.stringify({ owner }))) return;
    const stale = await readIfThere(ownerPath(dir));
    if (stale === null) continue;
    const other = ownerIn(stale);
    if (other && (await isRunning(other)))
      throw new EmbeddedPostgresInUse(
        `The PostgreSQL in ${dir} belongs to process ${other.pid}, which is running. Stop that process first: two on one data folder would be two consoles on one store.`,
      );
    await setAside(dir, stale);
  }
  throw new Error(`${ownerPath(dir)} keeps changing: several processes are starting PostgreSQL there at once.`);
}

/** Creates the file in one step, so that no reader sees half of it; false if it exists. */
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

export async function releaseDataFolder(dir: string): Promise<void> {
  await rm(ownerPath(dir), { force: true });
}

/** Removes the file of a dead owner only: another process may have replaced it since it was read. */
async function setAside(dir: string, stale: string): Promise<void> {
  const aside = `${ownerPath(dir)}.${randomUUID()}`;
  const isGone = (await ifThere(rename(ownerPath(dir), aside))) === null;
  if (isGone) return;
  if ((await readIfThere(aside)) === stale) await rm(aside);
  else await rename(aside, ownerPath(dir));
}

function ownerIn(text: string): ProcessIdentity | null {
  try {
    const { owner } = JSON.parse(text) as { owner?: Partial<ProcessIdentity> };
    return typeof owner?.pid === 'number' ? { pid: owner.pid, startedAt: owner.startedAt ?? null } : null;
  } catch {
    return null;
  }
}

export const SUPERUSER = 'postgres';

/** A data folder ready to start, and its superuser's password. */
export type DataFolder = Record<'dataDir' | 'password', string>;

/** Creates the data folder below `dir` unless it exists. Discards a partial one. */
export async function prepareDataFolder(dir: string, binaries: Binaries, account: Account | null, throwaway: boolean): Promise<DataFolder> {
  const dataDir = path.join(dir, 'data');
  const existing = await readIfThere(path.join(dataDir, 'PG_VERSION'));
  if (existing === null) return create(dir, binaries, account, throwaway);
  if (existing.trim() !== binaries.major) {
    throw new Error(
      `${dataDir} was made by PostgreSQL ${existing.trim()}, and ${binaries.major} is installed. Dump it with the old version and move the folder away to start anew.`,
    );
  }
  const password = await readIfThere(passwordPath(dir));
  if (password === null)
    throw new Error(`${passwordPath(dir)} is missing, so nobody can sign in to ${dataDir}. Move the folder away to start anew.`);
  return { dataDir, password: password.trim() };
}

const passwordPath = (dir: string) => path.join(dir, 'password');

async function create(dir: string, binaries: Binaries, account: Account | null, throwaway: boolean): Promise<DataFolder> {
  // initdb works in a folder of its own, as PostgreSQL may not write to `dir`; its result is renamed when complete.
  const draft = path.join(dir, 'draft');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  const password = randomBytes(24).toString('base64url');
  const passwordFile = path.join(draft, 'password');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account) {
    await chown(passwordFile, account.uid, account.gid);
    await chown(draft, account.uid, account.gid);
  }
  const made = path.join(draft, 'data');
  const settings = ['--auth=scram-sha-256', '--locale=C', '--encoding=UTF8', ...(throwaway ? ['--no-sync'] : [])];
  const place = [`--pgdata=${made}`, `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`];
  const result = await run(binaries.initdb, [...place, ...settings], account);
  if (result.code !== 0) {
    throw new Error(
      `PostgreSQL could not create its data folder in ${dir} (initdb ended with ${result.code ?? result.signal}):\n${result.output.trim()}`,
    );
  }
  await rm(passwordPath(dir), { force: true });
  await writeFile(passwordPath(dir), `${password}\n`, { mode: 0o600 });
  const dataDir = path.join(dir, 'data');
  await rename(made, dataDir);
  await rm(draft, { recursive: true });
  return { dataDir, password };
}
