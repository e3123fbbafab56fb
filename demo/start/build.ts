import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { environmentFor } from '../env';
import { startChild, tailOf, type Child } from './child';

/** What a build is made of. */
const FOLDERS = ['app', 'components', 'lib', 'public'];
const FILES = /^(next\.config\.\w+|postcss\.config\.\w+|proxy\.ts|instrumentation\.ts|tsconfig\.json|package-lock\.json)$/;

export interface BuildOptions {
  root: string;
  logFile: string;
  /** Told the running build, so that it can be ended. */
  started: (child: Child) => void;
}

/** Builds the console unless what is there was built from the same sources. Answers whether it had to. */
export async function ensureBuilt({ root, logFile, started }: BuildOptions): Promise<boolean> {
  const folder = path.resolve(root, distFolder());
  const stamp = path.join(folder, 'outbox-demo-sources');
  const wanted = await sourcesHash(root);
  const [built, present] = await Promise.all([readOptional(stamp), readOptional(path.join(folder, 'BUILD_ID'))]);
  if (built === wanted && present !== null) return false;
  await rm(stamp, { force: true });
  const settings = path.join(root, 'tsconfig.json');
  const asItWas = await readFile(settings);
  const env = environmentFor({ NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', CI: '1' });
  const child = await startChild([path.join(root, 'node_modules/next/dist/bin/next'), 'build'], {
    cwd: root,
    env,
    logFile,
    channel: false,
  });
  started(child);
  const { code, signal } = await child.ended;
  // Next writes a folder that is not .next into it; it is a source of the next build.
  if (!(await readFile(settings)).equals(asItWas)) await writeFile(settings, asItWas);
  if (code !== 0) throw new Error(`next build ended with ${code ?? signal}:\n${await tailOf(logFile)}`);
  await writeFile(stamp, wanted);
  return true;
}

/** As next.config.js has it. */
function distFolder(): string {
  return environmentFor({}).OUTBOX_CONSOLE_DIST_DIR ?? '.next';
}

/** A digest of everything a build reads, the base path too; tests are no part of it. */
export async function sourcesHash(root: string): Promise<string> {
  const files = (await readdir(root)).filter((name) => FILES.test(name));
  for (const folder of FOLDERS) {
    const entries = await readdir(path.join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) if (entry.isFile()) files.push(path.relative(root, path.join(entry.parentPath, entry.name)));
  }
  const hash = createHash('sha256').update(`${process.version}\0${environmentFor({}).OUTBOX_CONSOLE_BASE_PATH ?? ''}`);
  for (const file of files.filter((name) => !/\.test\.tsx?$/.test(name)).sort()) {
    hash.update(`\0${file}\0`).update(await readFile(path.join(root, file)));
  }
  return hash.digest('hex');
}

async function readOptional(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null);
}
