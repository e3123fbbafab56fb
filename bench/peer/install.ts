/**
 * The peer's programs, in a folder of their own: pg-boss, its dashboard, and the Node 22 they ask for, which npm carries
 * as a package for each platform. Nothing of it is a dependency of ours, and nothing of it runs a script to be installed.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const NODE = `node-${process.platform}-${process.arch}`;
export const PEER_PACKAGES = { [NODE]: '22.23.3', 'pg-boss': '12.38.0', '@pg-boss/dashboard': '1.9.0' };
/** pg-boss asks for a newer one than the registry may hold. It parses calendars, which nothing here uses. */
const OVERRIDES = { 'rrule-temporal': '2.2.7' };
const INSTALL_TIMEOUT_MS = 240_000;

const execFileAsync = promisify(execFile);

export interface Peer {
  dir: string;
  /** Node 22. */
  node: string;
  /** Starts the dashboard. */
  dashboard: string;
  /** Our program that makes pg-boss's tables and queues, or lets it refresh its figures. */
  tables: string;
  remove(): Promise<void>;
}

/** Throws with npm's own words when it cannot be installed. */
export async function installPeer(baseDir: string): Promise<Peer> {
  const dir = await mkdtemp(path.join(baseDir, 'outbox-console-peer-'));
  const remove = (): Promise<void> => rm(dir, { recursive: true, force: true });
  try {
    await writeFile(
      path.join(dir, 'package.json'),
      JSON.stringify({ private: true, type: 'module', dependencies: PEER_PACKAGES, overrides: OVERRIDES }),
    );
    await execFileAsync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: dir, timeout: INSTALL_TIMEOUT_MS });
    const tables = path.join(dir, 'tables.mjs');
    await copyFile(path.join(import.meta.dirname, 'tables.mjs'), tables);
    const peer = {
      dir,
      node: path.join(dir, 'node_modules', NODE, 'bin/node'),
      dashboard: path.join(dir, 'node_modules/@pg-boss/dashboard/bin/cli.js'),
      tables,
      remove,
    };
    await execFileAsync(peer.node, ['--version']);
    return peer;
  } catch (error) {
    await remove();
    throw new Error(`The peer could not be installed: ${outputOf(error)}`, { cause: error });
  }
}

/** Runs our program there: `create` makes tables and queues, `supervise` one pass of its own upkeep. */
export async function runTables(peer: Peer, verb: 'create' | 'supervise', url: string): Promise<void> {
  try {
    await execFileAsync(peer.node, [peer.tables, verb, url], { cwd: peer.dir, timeout: INSTALL_TIMEOUT_MS });
  } catch (error) {
    throw new Error(`The peer's tables: ${outputOf(error)}`, { cause: error });
  }
}

function outputOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  return (stderr?.trim() || (message ?? String(error))).slice(-2_000);
}
