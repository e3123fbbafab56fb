/** Finds the server of the MySQL tests, or gets it where that takes no question. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const NAMES = ['mariadbd', 'mysqld'];
/** Servers live outside an ordinary user's PATH on Debian, and Homebrew links only one of them. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/libexec', '/usr/bin', '/opt/homebrew/bin', '/usr/local/bin'];

export interface MariadbBinaries {
  server: string;
  /** MariaDB's program that makes a data folder; null where the server does it itself (MySQL). */
  install: string | null;
}

/** The server MARIADB_SERVER names, or one on this machine; null when there is none. */
export function findMariadb(): MariadbBinaries | null {
  const wanted = process.env.MARIADB_SERVER;
  if (wanted !== undefined && wanted !== '' && !fs.existsSync(wanted))
    throw new Error(`MARIADB_SERVER names ${wanted}, which does not exist`);
  const folders = [...(process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder)), ...FOLDERS];
  const find = (names: string[]): string | undefined =>
    folders.flatMap((folder) => names.map((name) => path.join(folder, name))).find((candidate) => fs.existsSync(candidate));
  const server = wanted === undefined || wanted === '' ? find(NAMES) : wanted;
  if (server === undefined) return null;
  const version = spawnSync(server, ['--no-defaults', '--version'], { encoding: 'utf8' }).stdout;
  if (!version.includes('MariaDB')) return { server, install: null };
  const install = find(['mariadb-install-db', 'mysql_install_db']);
  if (install === undefined) throw new Error(`${server} is a MariaDB without its mariadb-install-db: install the whole package`);
  return { server, install };
}

/** As `findMariadb`, but installs Debian's package when running as root there; otherwise throws the one command to run. */
export function ensureMariadb(): MariadbBinaries {
  const found = findMariadb();
  if (found !== null) return found;
  const debian = fs.existsSync('/usr/bin/apt-get');
  if (!debian || process.getuid?.() !== 0) {
    const command = debian ? 'sudo apt-get install -y --no-install-recommends mariadb-server' : 'brew install mariadb';
    throw new Error(`The database tests need MariaDB or MySQL. Run: ${command}   (or set MARIADB_SERVER to a mariadbd or mysqld)`);
  }
  console.log('  installing MariaDB with apt-get');
  withoutStarting(() => {
    for (const parameters of [
      ['update', '-q'],
      ['install', '-y', '-q', '--no-install-recommends', 'mariadb-server'],
    ]) {
      const run = spawnSync('apt-get', parameters, { encoding: 'utf8', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
      if (run.status !== 0) throw new Error(`apt-get ${parameters.join(' ')} failed:\n${run.stdout}${run.stderr}`);
    }
  });
  const installed = findMariadb();
  if (installed === null) throw new Error('apt-get installed mariadb-server, but it is not at any of the usual places; set MARIADB_SERVER');
  return installed;
}

/** Debian starts what it installs unless this file forbids it; the tests bring up a server of their own. */
const POLICY = '/usr/sbin/policy-rc.d';

function withoutStarting(work: () => void): void {
  const ours = !fs.existsSync(POLICY);
  if (ours) fs.writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    work();
  } finally {
    if (ours) fs.rmSync(POLICY, { force: true });
  }
}
