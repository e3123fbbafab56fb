import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Account } from './account';
import type { Binaries } from './binaries';
import { run } from './run';

export const SUPERUSER = 'postgres';

/** A data folder that PostgreSQL can be started on, and its superuser's password. */
export interface DataFolder {
  dataDir: string;
  password: string;
}

/** Makes the data folder below `dir` unless it is there already. A half-made one is thrown away. */
export async function prepareDataFolder(
  dir: string,
  binaries: Binaries,
  account: Account | null,
  keepNothing: boolean,
): Promise<DataFolder> {
  const dataDir = path.join(dir, 'data');
  const existing = await readOptional(path.join(dataDir, 'PG_VERSION'));
  if (existing === null) return create(dir, dataDir, binaries, account, keepNothing);
  if (existing.trim() !== binaries.major) {
    throw new Error(
      `${dataDir} was made by PostgreSQL ${existing.trim()}, and ${binaries.major} is installed. Dump it with the old version and move the folder away to start anew.`,
    );
  }
  const password = await readOptional(passwordPath(dir));
  if (password === null)
    throw new Error(`${passwordPath(dir)} is missing, so nobody can sign in to ${dataDir}. Move the folder away to start anew.`);
  return { dataDir, password: password.trim() };
}

const passwordPath = (dir: string) => path.join(dir, 'password');

async function create(
  dir: string,
  dataDir: string,
  binaries: Binaries,
  account: Account | null,
  keepNothing: boolean,
): Promise<DataFolder> {
  // initdb works in a folder of its own, and what it made is renamed when whole: PostgreSQL may not write into `dir`.
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
  const result = await run(
    binaries.initdb,
    [
      `--pgdata=${made}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--locale=C',
      '--encoding=UTF8',
      ...(keepNothing ? ['--no-sync'] : []),
    ],
    account,
  );
  if (result.code !== 0) {
    throw new Error(
      `PostgreSQL could not create its data folder in ${dir} (initdb ended with ${result.code ?? result.signal}):\n${result.output.trim()}`,
    );
  }
  await rm(passwordPath(dir), { force: true });
  await writeFile(passwordPath(dir), `${password}\n`, { mode: 0o600 });
  await rename(made, dataDir);
  await rm(draft, { recursive: true });
  return { dataDir, password };
}

async function readOptional(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
