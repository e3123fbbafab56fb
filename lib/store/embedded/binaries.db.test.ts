import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unprivilegedAccount, run } from './processes';
import { findBinaries, hydrateLinks, nativeFolder, openProgramsFolder } from './binaries';

let base: string;

beforeEach(async () => {
  base = await mkdtemp(path.join(os.tmpdir(), 'binaries-'));
  await chmod(base, 0o755);
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe('hydrateLinks', () => {
  it('puts back exactly the links the install script would have made', async () => {
    const native = path.join(base, 'native');
    await cp(nativeFolder(), native, { recursive: true, verbatimSymlinks: true });
    const links = (await readdir(path.join(native, 'lib'), { withFileTypes: true })).filter((entry) => entry.isSymbolicLink());
    for (const { name } of links) await rm(path.join(native, 'lib', name));
    expect(await hydrateLinks(native)).toBe(true);
    for (const { name } of links) {
      expect(await readlink(path.join(native, 'lib', name))).toBe(await readlink(path.join(nativeFolder(), 'lib', name)));
    }
  });
});

describe('findBinaries', () => {
  it('finds programs that run', async () => {
    const account = await unprivilegedAccount();
    const binaries = await findBinaries(account, path.join(base, 'shelter'));
    expect((await run(binaries.initdb, ['--version'], account)).output).toContain(`PostgreSQL) ${binaries.major}.`);
  });
});

describe('openShelter', () => {
  it('makes the folder, and refuses one that is a link or that others may write into', async () => {
    await openProgramsFolder(path.join(base, 'new'));
    expect((await lstat(path.join(base, 'new'))).mode & 0o777).toBe(0o755);
    await symlink(path.join(base, 'new'), path.join(base, 'link'));
    await expect(openProgramsFolder(path.join(base, 'link'))).rejects.toThrow('OUTBOX_DEMO_DIR');
    await mkdir(path.join(base, 'open'));
    await chmod(path.join(base, 'open'), 0o777);
    await expect(openProgramsFolder(path.join(base, 'open'))).rejects.toThrow('OUTBOX_DEMO_DIR');
  });
});
